# What every target of this project is compiled with. Warnings are errors in all presets
# (CMAKE_COMPILE_WARNING_AS_ERROR), but not if Mica is a subproject.
function(mica_compile_options target)
    set_target_properties(${target} PROPERTIES C_STANDARD 17 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
    if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
        # Without this, a compiler may fuse a multiplication and an addition, and results differ between machines.
        target_compile_options(${target} PRIVATE -ffp-contract=off)
        # On s390x, strict C lets gcc compute with floats as if they were doubles; nowhere else does this change anything.
        target_compile_options(${target} PRIVATE $<$<C_COMPILER_ID:GNU>:-fexcess-precision=fast>)
        target_compile_options(${target} PRIVATE
            -Wall -Wextra -Wpedantic -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wcast-align
            # gcc's plain -Wshadow forbids `model *model`, the most readable name there is.
            $<IF:$<C_COMPILER_ID:GNU>,-Wshadow=local,-Wshadow>
            # gcc cannot tell an array that is filled up to its count from one that is not filled.
            $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
        if(MINGW) # its own printf, which knows %zu; but the format attribute means Microsoft's
            target_compile_definitions(${target} PRIVATE __USE_MINGW_ANSI_STDIO=1)
            target_compile_options(${target} PRIVATE -Wno-format)
        endif()
    endif()
endfunction()

# A program of this project that may look at private headers: tests and benchmarks.
function(mica_inside_program target)
    target_link_libraries(${target} PRIVATE mica::mica Threads::Threads)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    mica_compile_options(${target})
endfunction()

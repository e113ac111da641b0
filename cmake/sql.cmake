# Tables of SQLite over a world.
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)

function(mica_sql_library target core)
    mica_module(${target} sql)
    target_link_libraries(${target} PUBLIC ${core} PRIVATE PkgConfig::SQLITE)
endfunction()

add_library(mica_sql)
add_library(mica::sql ALIAS mica_sql)
mica_sql_library(mica_sql mica)
add_library(mica_sql_shared SHARED EXCLUDE_FROM_ALL)
mica_sql_library(mica_sql_shared mica_shared)

list(APPEND mica_modules mica_sql)

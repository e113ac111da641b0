# One world on the ranks of an MPI job.
pkg_check_modules(OPENMPI REQUIRED IMPORTED_TARGET ompi-c)

function(mica_cluster_library target resource)
    mica_module(${target} cluster)
    target_link_libraries(${target} PUBLIC ${resource} PRIVATE PkgConfig::OPENMPI)
endfunction()

add_library(mica_cluster)
add_library(mica::cluster ALIAS mica_cluster)
mica_cluster_library(mica_cluster mica_resource)
add_library(mica_cluster_shared SHARED EXCLUDE_FROM_ALL)
mica_cluster_library(mica_cluster_shared mica_resource_shared)

list(APPEND mica_modules mica_cluster)

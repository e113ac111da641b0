# Puts all of Mica into a program and exports it, for the modules that the program loads (mica/module_load.h). Link mica::resource and mica::mica.
function(mica_export_to_modules program)
    # By the names of an installed Mica and of one in a subdirectory.
    set_target_properties(${program} PROPERTIES ENABLE_EXPORTS ON
                          LINK_LIBRARY_OVERRIDE WHOLE_ARCHIVE,mica::mica,mica::resource,mica,mica_resource)
endfunction()

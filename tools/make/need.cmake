# need(PREFIX OPTION DEBIAN MODULE...): finds the modules that an option needs by
# pkg-config, or says which Debian packages have them.
function(need prefix option debian)
    pkg_check_modules(${prefix} IMPORTED_TARGET GLOBAL ${ARGN})
    if(NOT ${prefix}_FOUND)
        list(JOIN ARGN ", " modules)
        message(FATAL_ERROR "pkg-config does not find ${modules}: install "
                            "${debian}, or configure with -D${option}=OFF")
    endif()
    foreach(variable FOUND INCLUDE_DIRS LINK_LIBRARIES)
        set(${prefix}_${variable} ${${prefix}_${variable}} PARENT_SCOPE)
    endforeach()
endfunction()

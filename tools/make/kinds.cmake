# Verifies that BLY_KINDS is `all`, or a list of kinds, formats and their groups
# (src/verbs/registry.h), with commas or semicolons. Makes it one with commas.
string(REPLACE "," ";" kinds "${BLY_KINDS}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    src/verbs/registry.h)
file(READ src/verbs/registry.h rows)
string(REGEX MATCHALL "\n    X\\([a-z0-9]+" rows "${rows}")
list(TRANSFORM rows REPLACE "\n    X\\(" "" OUTPUT_VARIABLE known)
list(APPEND known core sets formats)
foreach(kind ${kinds})
    if(NOT kind IN_LIST known AND NOT kinds STREQUAL "all")
        list(JOIN known ", " choice)
        message(FATAL_ERROR "BLY_KINDS is '${BLY_KINDS}', but '${kind}' is not a "
                            "kind: give all, or a list of ${choice}")
    endif()
endforeach()
list(JOIN kinds "," BLY_KINDS)

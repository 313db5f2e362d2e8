# find_package(precast) gives the targets precast::precast, the shared library, and precast::static.
get_filename_component(PRECAST_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET precast::precast)
  add_library(precast::precast SHARED IMPORTED)
  set_target_properties(precast::precast PROPERTIES
    IMPORTED_LOCATION "${PRECAST_PREFIX}/lib/libprecast.so"
    INTERFACE_INCLUDE_DIRECTORIES "${PRECAST_PREFIX}/include")

  add_library(precast::static STATIC IMPORTED)
  set_target_properties(precast::static PROPERTIES
    IMPORTED_LOCATION "${PRECAST_PREFIX}/lib/libprecast.a"
    IMPORTED_LINK_INTERFACE_LANGUAGES C
    INTERFACE_INCLUDE_DIRECTORIES "${PRECAST_PREFIX}/include"
    INTERFACE_LINK_LIBRARIES "gcc_s;util;rt;pthread;m;dl")
endif()

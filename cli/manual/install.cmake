# The man page and the completions, written by the executable that they describe, and where the
# system looks for them.
set(manual_directory ${PROJECT_BINARY_DIR}/share)
set(manual_files)

# memprof_manual_file(FORMAT FILE DIRECTORY): what `memprof manual FORMAT` says, installed as
# DIRECTORY/FILE.
function(memprof_manual_file format file directory)
  set(output ${manual_directory}/${format}/${file})
  cmake_path(GET output PARENT_PATH parent)
  file(MAKE_DIRECTORY ${parent})
  add_custom_command(OUTPUT ${output}
    COMMAND memprof_cli manual ${format} -f -o ${output}
    COMMENT "Writing ${file}"
    VERBATIM)
  install(FILES ${output} DESTINATION ${directory})
  set(manual_files ${manual_files} ${output} PARENT_SCOPE)
endfunction()

# Debian's zsh leaves site-functions below /usr to nobody and has vendor-completions for packages.
set(zsh_directory ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(zsh_directory ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
endif()
memprof_manual_file(man memprof.1 ${CMAKE_INSTALL_MANDIR}/man1)
memprof_manual_file(bash memprof ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
memprof_manual_file(zsh _memprof ${zsh_directory})
memprof_manual_file(fish memprof.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
add_custom_target(manual ALL DEPENDS ${manual_files})

# Files that only the Debian package has, added to CPack's staging folder: the changelog, the copyright
# page, and manual pages compressed as Debian wants them. Without names and times in the gzip
# headers, so that they are reproducible.
set(share ${CPACK_TEMPORARY_DIRECTORY}/usr/share)
set(documents ${share}/doc/memprof)
file(COPY ${CPACK_MEMPROF_PACKAGING_DIRECTORY}/changelog
          ${CPACK_MEMPROF_PACKAGING_DIRECTORY}/copyright DESTINATION ${documents})
file(COPY ${CPACK_MEMPROF_PACKAGING_DIRECTORY}/lintian-overrides DESTINATION ${share}/lintian/overrides)
file(RENAME ${share}/lintian/overrides/lintian-overrides ${share}/lintian/overrides/memprof)
file(GLOB pages ${share}/man/man1/*.1)
foreach(file ${pages} ${documents}/changelog)
  execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
endforeach()

# Modes that don't hang on the builder's umask.
file(GLOB_RECURSE files ${CPACK_TEMPORARY_DIRECTORY}/*)
foreach(file ${files})
  set(mode 644)
  if(file MATCHES "/usr/bin/")
    set(mode 755)
  endif()
  execute_process(COMMAND chmod ${mode} ${file} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND find ${CPACK_TEMPORARY_DIRECTORY} -type d -exec chmod 755 {} +
                COMMAND_ERROR_IS_FATAL ANY)

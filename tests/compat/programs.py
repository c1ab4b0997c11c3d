"""The table of real programs that run under memprof as they do bare."""
import build_tools
import desktop
import documents
import languages
import servers
import shells

PROGRAMS = (shells.PROGRAMS + languages.PROGRAMS + build_tools.PROGRAMS + documents.PROGRAMS
            + desktop.PROGRAMS + servers.PROGRAMS)

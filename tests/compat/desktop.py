"""Programs with a window, run without one."""
from program import Program

CHROMIUM = ["/usr/bin/chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--user-data-dir={folder}/profile"]

# Its reports about the machine: no bus of the desktop, no graphics, each line with its process and the time.
CHROMIUM_LOG = ((r"(?m)^(\[\d+:\d+:.*|/usr/bin/chromium: \d+: .*)\n", ""),)

CHROMIUM_FILES = (".cache", ".config", ".local", ".pki", "profile")

PAGE = r"""cat >page.html <<'END'
<html><body><ul id="list"></ul><p id="sum"></p><script>
const list = document.getElementById("list");
let sum = 0;
for (let i = 0; i < 2000; ++i) {
  const item = document.createElement("li");
  item.textContent = "item " + i * 7919 % 10007;
  list.append(item);
  sum += item.textContent.length;
}
document.getElementById("sum").textContent = sum;
</script></body></html>
END
"""

PICTURE = r"""cat >picture.svg <<'END'
<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200">
<defs><filter id="blur"><feGaussianBlur stdDeviation="3"/></filter>
<linearGradient id="red"><stop offset="0" stop-color="#f00"/><stop offset="1" stop-color="#400"/></linearGradient></defs>
<rect x="10" y="10" width="180" height="160" fill="url(#red)"/>
<circle cx="290" cy="100" r="70" fill="none" stroke="blue" stroke-width="4" filter="url(#blur)"/>
<path d="M 20 180 Q 100 20 380 180" stroke="green" fill="none"/><text x="40" y="60">text</text></svg>
END
"""

TABLE = "awk 'BEGIN { for (i = 1; i <= 2000; ++i) print i \",row \" i * 7919 % 10007 \",=A\" i \"*2\" }' >table.csv\n"

OFFICE = ["soffice", "--headless", "--norestore", "-env:UserInstallation=file://{folder}/profile"]

PROGRAMS = [
    Program("chromium --version", ("chromium",), ["/usr/bin/chromium", "--version"], normal=CHROMIUM_LOG,
            ignored_files=CHROMIUM_FILES, allocates=0, maps=1, tree_allocates=100),
    Program("chromium", ("chromium",), CHROMIUM + ["--dump-dom", "file://{folder}/page.html"], setup=PAGE,
            normal=CHROMIUM_LOG, ignored_files=CHROMIUM_FILES, allocates=0, maps=50, tree_allocates=100),
    Program("firefox", ("firefox-esr",),
            ["firefox-esr", "--headless", "--no-remote", "--profile", "{folder}/profile", "--window-size=400,300",
             "--screenshot", "{folder}/page.png", "file://{folder}/page.html"],
            setup="mkdir profile\n" + PAGE, ignored_files=("profile", ".cache", ".config", ".mozilla"),
            # Its reports about the machine, as chromium does.
            normal=((r"(?m)^(\[.*\d.*\].*|Crash Annotation .*|ATTENTION: .*|.*(?:dbus|Gdk|GLib|Gtk|libEGL).*)\n", ""),),
            allocates=0, maps=50, tree_allocates=100),
    Program("LibreOffice Calc", ("libreoffice-calc-nogui",),
            OFFICE + ["--convert-to", "html", "table.csv"], setup=TABLE, ignored_files=("profile", ".cache"),
            tree_allocates=100000),
    Program("LibreOffice Writer", ("libreoffice-writer-nogui",), OFFICE + ["--convert-to", "pdf", "page.html"],
            setup="{ echo '<html><body>'; seq -f '<h2>Part %g</h2><p>text</p>' 1 200; echo '</body></html>'; }"
                  " >page.html",
            ignored_files=("profile", ".cache"), tree_allocates=100000,
            # The date, and what is made of it.
            normal=((r"/CreationDate\([^)]*\)", "/CreationDate()"), (r"(?s)/ID \[.*?\]", "/ID []"),
                    (r"/DocChecksum /[0-9A-F]*", "/DocChecksum /"))),
    Program("inkscape", ("inkscape",), ["inkscape", "--export-type=png", "--export-filename=picture.png",
                                        "picture.svg"],
            setup=PICTURE, ignored_files=(".cache", ".config", ".local"), allocates=1000,
            # The time and the process of a warning.
            normal=((r"\(inkscape:\d+\): WARNING \*\*: [\d:.]+:", "(inkscape): WARNING **:"),)),
]

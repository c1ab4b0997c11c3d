"""A debuginfod server for the tests: on loopback, as long as a `with` lasts."""
import http.server
import threading


class DebugServer:
    """Serves `files` (build-id: bytes) at /buildid/ID/debuginfo; 404 for others.

    With `hangs`, requests are accepted and nothing is answered until the server ends.
    """

    def __init__(self, files=None, hangs=False):
        self.requests = []
        self.ended = threading.Event()
        server = self
        files = files or {}

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                build_id = self.path.split("/")[2] if self.path.count("/") == 3 else ""
                server.requests.append(build_id)
                if hangs:
                    server.ended.wait(60)
                    return
                content = files.get(build_id) if self.path.endswith("/debuginfo") else None
                self.send_response(404 if content is None else 200)
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

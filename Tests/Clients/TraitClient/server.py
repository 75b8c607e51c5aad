"""A server on the loopback interface that answers as tests say, well or badly."""

import socket
import threading


def response(status="200 OK", body=b"", **headers):
    """Returns an answer with its length; `_` in header names stands for `-`."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class Request:
    """The request of a client; header names are in lower case."""

    def __init__(self, text):
        first, *lines = text.decode("latin-1").split("\r\n")
        self.method, self.path, _ = first.split(" ")
        self.headers = {}
        for line in filter(None, lines):
            name, value = line.split(":", 1)
            self.headers[name.lower()] = value.strip()


class Server:
    """Calls `answer(request, connection)` for each request, in a separate thread."""

    def __init__(self, answer):
        self.answer = answer
        self.requests = []
        self.ending = threading.Event()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join()

    def run(self):
        while not self.ending.is_set():
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=[connection], daemon=True).start()

    def serve(self, connection):
        with connection:
            try:
                text = b""
                while b"\r\n\r\n" not in text:
                    part = connection.recv(65536)
                    if not part:
                        return
                    text += part
                request = Request(text.split(b"\r\n\r\n")[0])
                self.requests.append(request)
                answer = self.answer(request, connection)
                if answer is not None:
                    connection.sendall(answer)
            except OSError:
                pass  # The client went away, as it may.

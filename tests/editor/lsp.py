"""A client of rust-analyzer: as much of the language server protocol as the checks need."""
import json
import os
import subprocess
import threading
import time

CAPABILITIES = {
    "experimental": {"serverStatusNotification": True},
    "textDocument": {
        "hover": {"contentFormat": ["markdown"]},
        "diagnostic": {},
        "rename": {"prepareSupport": True},
    },
    "workspace": {"workspaceEdit": {"documentChanges": True}},
}


class Server:
    """A running rust-analyzer with a project open."""

    def __init__(self, program, project, timeout=600):
        self.project, self.timeout = project, timeout
        self.answers, self.versions = {}, {}
        self.changed = threading.Condition()
        self.quiescent = False
        self.process = subprocess.Popen(
            [program], cwd=project, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        threading.Thread(target=self._read, daemon=True).start()
        self.number = 0
        self.ask("initialize", {
            "processId": os.getpid(),
            "rootUri": "file://" + project,
            "capabilities": CAPABILITIES,
            "initializationOptions": {"checkOnSave": False},
        })
        self.tell("initialized", {})
        self._wait(lambda: self.quiescent, "the project to be loaded")

    def open(self, path, text):
        """Opens a file, or replaces its text."""
        uri = self.uri(path)
        version = self.versions[uri] = self.versions.get(uri, 0) + 1
        if version == 1:
            document = {"uri": uri, "languageId": "rust", "version": version, "text": text}
            self.tell("textDocument/didOpen", {"textDocument": document})
        else:
            document = {"uri": uri, "version": version}
            self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def errors(self, path):
        """What the editor underlines in a file."""
        return self.ask("textDocument/diagnostic", {"textDocument": {"uri": self.uri(path)}})["items"]

    def uri(self, path):
        return "file://" + os.path.join(self.project, path)

    def tell(self, method, params):
        self._send({"method": method, "params": params})

    def ask(self, method, params):
        """The result of a request, or the text of its refusal."""
        self.number += 1
        number = self.number
        self._send({"id": number, "method": method, "params": params})
        self._wait(lambda: number in self.answers, method)
        answer = self.answers.pop(number)
        return answer["error"]["message"] if "error" in answer else answer["result"]

    def close(self):
        self.process.kill()
        self.process.wait()

    def _wait(self, done, what):
        end = time.monotonic() + self.timeout
        with self.changed:
            while not done():
                if not self.changed.wait(max(0, end - time.monotonic())):
                    raise SystemExit(f"rust-analyzer took too long: waited for {what}")
                if self.process.poll() is not None:
                    raise SystemExit("rust-analyzer has stopped")

    def _send(self, message):
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
        self.process.stdin.flush()

    def _read(self):
        while (message := self._message()) is not None:
            with self.changed:
                self._take(message)
                self.changed.notify_all()
        with self.changed:
            self.process.wait()
            self.changed.notify_all()

    def _message(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            name, value = line.split(b":", 1)
            if name.lower() == b"content-length":
                length = int(value)
        return json.loads(self.process.stdout.read(length)) if length else None

    def _take(self, message):
        method, params = message.get("method"), message.get("params")
        if method is None:
            self.answers[message["id"]] = message
        elif "id" in message:
            self._send({"id": message["id"], "result": None})
        elif method == "experimental/serverStatus":
            self.quiescent = params["quiescent"]

"""A local stand-in for a server with a Batch API: real HTTP, files, batches, faults on demand."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.judges.faults import Answer, Seen
from tests.pipeline.scripted import model

Fault = Callable[[str, str], int | None]
"""From method and path to a status that is answered in place of the real one; -1 does what was
asked and then cuts the connection, so that the answer is lost."""


class BatchServer:
    """Keeps files and batches. `finish` ends what is in progress, as `status` with `lines` done."""

    def __init__(self, answer: Callable[[Seen], Answer] = model) -> None:
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.calls: Counter[str] = Counter()
        self.keys: list[str | None] = []
        self.fault: Fault = lambda method, path: None
        self.page = 100
        self._answer = answer
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                """Be quiet."""

            def do_GET(self) -> None:
                self.serve("GET")

            def do_POST(self) -> None:
                self.serve("POST")

            def serve(self, method: str) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                path = self.path.removeprefix("/v1")
                server.calls[f"{method} {path.partition('?')[0]}"] += 1
                status = server.fault(method, path)
                content = b'{"error": {"message": "no"}}'
                if status in (None, -1):
                    content = server.do(method, path, body, self.headers)
                if status == -1:
                    self.close_connection = True
                    return
                self.send_response(status or 200)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> BatchServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(10)

    def do(self, method: str, path: str, body: bytes, headers: Any) -> bytes:
        if method == "POST" and path == "/files":
            return self._upload(body)
        if method == "POST" and path == "/batches":
            self.keys.append(headers.get("idempotency-key"))
            return self._create(json.loads(body))
        if path.startswith("/batches?"):
            return self._list(path)
        if found := re.fullmatch(r"/batches/([^/]+)(/cancel)?", path):
            if found[2]:
                self.batches[found[1]]["status"] = "cancelled"
            return json.dumps(self.batches[found[1]]).encode()
        if found := re.fullmatch(r"/files/([^/]+)/content", path):
            return self.files[found[1]]
        raise ValueError(f"{method} {path}")

    def _upload(self, body: bytes) -> bytes:
        border = body.split(b"\r\n", 1)[0]
        parts = [p.split(b"\r\n\r\n", 1) for p in body.split(border)[1:-1]]
        content = parts[1][1].removesuffix(b"\r\n")
        if b'name="purpose"' not in parts[0][0] or parts[0][1].strip() != b"batch":
            raise ValueError("no purpose")
        name = f"file-{len(self.files)}"
        self.files[name] = content
        return json.dumps({"id": name, "object": "file"}).encode()

    def _create(self, asked: dict[str, Any]) -> bytes:
        name = f"batch_{len(self.batches)}"
        total = self.files[asked["input_file_id"]].count(b"\n")
        self.batches[name] = {
            **asked,
            "id": name,
            "status": "in_progress",
            "request_counts": {"total": total, "completed": 0, "failed": 0},
        }
        return json.dumps(self.batches[name]).encode()

    def _list(self, path: str) -> bytes:
        rows = list(self.batches.values())[::-1]
        found = re.search("after=([^&]+)", path)
        if found is not None:
            rows = rows[[r["id"] for r in rows].index(found[1]) + 1 :]
        page = rows[: self.page]
        return json.dumps({"data": page, "has_more": len(rows) > len(page)}).encode()

    def input_of(self, batch: str) -> list[dict[str, Any]]:
        """Return the lines of a batch."""
        content = self.files[self.batches[batch]["input_file_id"]]
        return [json.loads(line) for line in content.splitlines()]

    def finish(self, status: str = "completed", *, lines: int | None = None) -> None:
        """End all batches in progress; the first `lines` requests of each were done."""
        for name, batch in self.batches.items():
            if batch["status"] != "in_progress":
                continue
            asked = self.input_of(name)
            done = asked if lines is None else asked[:lines]
            batch["status"] = status
            output = [self._line(row) for row in done]
            # In an order that is not that of the input.
            batch["output_file_id"] = self._file(output[::-1]) if output else None
            left = [
                {
                    "custom_id": row["custom_id"],
                    "response": None,
                    "error": {"code": f"batch_{status}", "message": f"the batch is {status}"},
                }
                for row in asked[len(done) :]
            ]
            batch["error_file_id"] = self._file(left) if left else None
            batch["request_counts"] |= {"completed": len(done), "failed": len(left)}

    def _line(self, row: dict[str, Any]) -> dict[str, Any]:
        answer = self._answer(Seen(row["url"], {}, row["body"], 0, 0))
        return {
            "custom_id": row["custom_id"],
            "response": {"status_code": answer.status, "body": json.loads(answer.body)},
            "error": None,
        }

    def _file(self, rows: list[dict[str, Any]]) -> str:
        name = f"out-{len(self.files)}"
        self.files[name] = "".join(json.dumps(r) + "\n" for r in rows).encode() + b"\nno json\n"
        return name

"""A tiny OpenAI-compatible server with a flaw: `python scripted_target.py FLAW READY_FILE`.

FLAW: `none`; `nan`: its metrics are not finite numbers; `changing`: other weights after the first chat request.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

from aiohttp import web

from chaosgate.servers import listen

MODEL = "scripted"
METRICS = "vllm:num_requests_running NaN\nvllm:num_requests_waiting +Inf\nvllm:kv_cache_usage_perc 0.5\n"


def application(flaw: str) -> web.Application:
    """The server's routes."""
    asked: list[str] = []

    async def models(request: web.Request) -> web.Response:
        weights = "sha256:other" if flaw == "changing" and asked else "sha256:one"
        entry = {"id": MODEL, "object": "model", "chaosgate": {"engine": "scripted", "weights_digest": weights}}
        return web.json_response({"object": "list", "data": [entry]})

    async def chat(request: web.Request) -> web.StreamResponse:
        await request.read()
        asked.append("chat")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for text in ("red", "blue"):
            await response.write(b'data: {"choices": [{"index": 0, "delta": {"content": "%s"}}]}\n\n' % text.encode())
        await response.write(b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\n')
        await response.write(b"data: [DONE]\n\n")
        return response

    async def metrics(request: web.Request) -> web.Response:
        return web.Response(text=METRICS if flaw == "nan" else "")

    app = web.Application()
    app.add_routes(
        [web.get("/v1/models", models), web.post("/v1/chat/completions", chat), web.get("/metrics", metrics)]
    )
    return app


async def serve(flaw: str, ready: Path) -> None:
    """Serve until SIGTERM; `ready` holds the address once requests are answered."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    runner = web.AppRunner(application(flaw), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    listener = listen("127.0.0.1", 0)
    await web.SockSite(runner, listener).start()
    draft = ready.with_suffix(".draft")
    draft.write_text(f"http://127.0.0.1:{listener.getsockname()[1]}")
    draft.replace(ready)
    await stop.wait()
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], Path(sys.argv[2])))

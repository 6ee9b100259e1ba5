from __future__ import annotations

import json
import socket
import threading

import pytest
from scripted_openai import Script, event, says, scripted

from chaosgate.cli.chat_server import ChatError, ChatServer, Figures
from chaosgate.errors import UsageError
from chaosgate.sse import DONE_EVENT

HI = [{"role": "user", "content": "hi"}]
USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1}}


def test_an_answer_comes_in_pieces_and_ends_with_its_figures() -> None:
    stream = event(choices=[{"delta": {"role": "assistant"}}]) + says("a", "", "b") + event(choices=[], usage=USAGE)
    with scripted(Script(stream=stream + DONE_EVENT)) as server:
        *pieces, figures = ChatServer(f"{server.url}/v1/").answer("m", HI, temperature=0, max_tokens=5)
    assert pieces == ["a", "b"]
    assert isinstance(figures, Figures)
    assert (figures.prompt_tokens, figures.completion_tokens, figures.cached_tokens) == (3, 2, 1)
    assert not figures.cut
    assert 0 <= figures.first_token <= figures.total
    assert server.asked == [
        {
            "model": "m",
            "messages": HI,
            "stream": True,
            "temperature": 0,
            "max_tokens": 5,
            "stream_options": {"include_usage": True},
        }
    ]


def test_a_server_that_counts_nothing_has_no_counts() -> None:
    with scripted(Script(stream=says("a") + DONE_EVENT)) as server:
        *_, figures = ChatServer(server.url).answer("m", HI)
    assert isinstance(figures, Figures)
    assert (figures.prompt_tokens, figures.completion_tokens, figures.cached_tokens) == (None, None, None)


@pytest.mark.parametrize("count", ["\x1b[5mx", True, 1.5, [3], None])
def test_what_is_no_number_is_no_count(count: object) -> None:
    usage = {"prompt_tokens": count, "completion_tokens": count, "prompt_tokens_details": {"cached_tokens": count}}
    with scripted(Script(stream=says("a") + event(choices=[], usage=usage) + DONE_EVENT)) as server:
        *_, figures = ChatServer(server.url).answer("m", HI)
    assert isinstance(figures, Figures)
    assert (figures.prompt_tokens, figures.completion_tokens, figures.cached_tokens) == (None, None, None)


@pytest.mark.parametrize(
    ("finish", "cut"), [("length", True), ("stop", False), (None, False), (["length"], False)], ids=str
)
def test_an_answer_that_was_cut_off_is_known(finish: object, cut: bool) -> None:
    end = event(choices=[{"delta": {}, "finish_reason": finish}]) + event(choices=[], usage=USAGE)
    with scripted(Script(stream=says("a") + end + DONE_EVENT)) as server:
        *_, figures = ChatServer(server.url).answer("m", HI)
    assert isinstance(figures, Figures)
    assert figures.cut is cut


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        (says("a"), "{} broke off before the end of its answer"),
        (b"", "{} broke off before the end of its answer"),
        (b"data: {\x1b[31m\n\n", "the server sent what is no JSON: {\ufffd[31m"),
        (event(error={"message": "gone\n\x1b[2J"}), "gone \ufffd[2J"),
        (event(error="gone"), "gone"),
        (b"data: " + b"[" * 20000 + b"\n\n", "the server sent what is no JSON: " + "[" * 80),
    ],
)
def test_a_stream_that_goes_wrong_is_told(stream: bytes, message: str) -> None:
    with scripted(Script(stream=stream)) as server, pytest.raises(ChatError) as caught:
        list(ChatServer(server.url).answer("m", HI))
    assert str(caught.value) == message.replace("{}", server.url)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error": {"message": "too long"}}', "{} answered 400: too long"),
        (b"<html>\nno</html>", "{} answered 400: <html> no</html>"),
        (b"", "{} answered 400: Bad Request"),
        (b"[]", "{} answered 400: []"),
    ],
)
def test_a_refusal_is_told(body: bytes, message: str) -> None:
    with scripted(Script(status=400, stream=body)) as server, pytest.raises(ChatError) as caught:
        list(ChatServer(server.url).answer("m", HI))
    assert str(caught.value) == message.replace("{}", server.url)


def test_the_models_are_listed() -> None:
    with scripted(Script()) as server:
        assert ChatServer(server.url).models() == ["m", "m:a"]


def test_a_model_s_name_is_safe_to_print() -> None:
    models = json.dumps({"data": [{"id": "m\x1b]0;owned\x07\n\x1b[31mRED"}]}).encode()
    with scripted(Script(models=models)) as server:
        assert ChatServer(server.url).models() == ["m\ufffd]0;owned\ufffd \ufffd[31mRED"]


def raw_answer(data: bytes) -> tuple[str, threading.Thread]:
    """The URL of a server that answers one request with just `data`."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        with listener, listener.accept()[0] as connection:
            connection.recv(4096)
            connection.sendall(data)

    thread = threading.Thread(target=answer)
    thread.start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}", thread


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            b"HTP \x1b[2J\r\n\r\n",
            "{} does not answer: HTP \ufffd[2J; start a server with `chaosgate engine`, or leave --url out",
        ),
        (b"HTTP/1.1 418 \x1b[31mRED\r\nContent-Length: 0\r\n\r\n", "{} answered 418: \ufffd[31mRED"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}",
            "{} broke off: IncompleteRead(2 bytes read, 7 more expected)",
        ),
    ],
)
def test_what_is_hardly_http_is_told_and_safe_to_print(data: bytes, message: str) -> None:
    url, thread = raw_answer(data)
    with pytest.raises(ChatError) as caught:
        ChatServer(url).models()
    thread.join()
    assert str(caught.value) == message.replace("{}", url)


@pytest.mark.parametrize("models", [b"{}", b"[]", b'{"data": []}', b'{"data": [5]}', b'{"data": 5}'])
def test_a_server_without_models_is_none(models: bytes) -> None:
    with scripted(Script(models=models)) as server, pytest.raises(ChatError) as caught:
        ChatServer(server.url).models()
    assert str(caught.value) == f"{server.url}/v1/models lists no model; is it a server of OpenAI's API?"


def test_a_server_that_is_not_there_is_named() -> None:
    with scripted(Script()) as server:
        url = server.url
    with pytest.raises(ChatError) as caught:
        ChatServer(url).models()
    assert str(caught.value) == (
        f"{url} does not answer: Connection refused; start a server with `chaosgate engine`, or leave --url out"
    )


@pytest.mark.parametrize(
    "url", ["", "localhost:8000", "http://", "ftp://h", "http://[::1", "http://h:99999", "http://h:x"]
)
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        ChatServer(url)
    assert str(caught.value) == f"--url: read {url!r}; write one such as http://127.0.0.1:8000"

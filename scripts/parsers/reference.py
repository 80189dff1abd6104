"""Reads messages with the package `email` of Python, and prints what it finds, one JSON value a line.

The names of the files come from the standard input, one a line.
"""

import email
import email.policy
import hashlib
import json
import sys
from email.header import decode_header, make_header
from email.utils import getaddresses


def text_of(value):
    """The decoded value of a header field, on one line."""
    if value is None:
        return ""
    try:
        return str(make_header(decode_header(" ".join(str(value).split()))))
    except Exception:
        return " ".join(str(value).split())


def mailboxes(message, name):
    values = [str(value) for value in message.get_all(name, [])[:1]]
    return [address for _, address in getaddresses(values) if address]


def decoded(part):
    payload = part.get_payload(decode=True)
    return payload if payload is not None else b""


def characters(part):
    charset = part.get_content_charset() or "utf-8"
    for name in (charset, "utf-8", "windows-1252"):
        try:
            return decoded(part).decode(name)
        except (LookupError, UnicodeDecodeError):
            continue
    return decoded(part).decode("latin-1")


def is_body(part):
    kind = part.get_content_type()
    return kind in ("text/plain", "text/html") and part.get_content_disposition() != "attachment"


def leaves(part):
    """The parts that are no multipart; a forwarded message is one part."""
    if part.get_content_maintype() == "multipart" and part.is_multipart():
        for each in part.get_payload():
            yield from leaves(each)
    else:
        yield part


def describe(raw):
    message = email.message_from_bytes(raw, policy=email.policy.compat32)
    found = {"text": [], "html": [], "parts": []}
    for part in leaves(message):
        kind = part.get_content_type()
        if part.get_content_maintype() == "multipart":
            # A multipart without parts: the package gives its body as a text.
            found["text"].append(part.get_payload())
        elif is_body(part):
            found["html" if kind == "text/html" else "text"].append(characters(part))
        elif part.is_multipart():
            found["parts"].append({"type": kind, "name": text_of(part.get_filename()), "md5": None})
        else:
            digest = hashlib.md5(decoded(part)).hexdigest()
            name = text_of(part.get_filename())
            found["parts"].append({"type": kind, "name": name, "md5": digest})
    return {
        "subject": text_of(message.get("subject")),
        "from": mailboxes(message, "from"),
        "to": mailboxes(message, "to"),
        "messageId": text_of(message.get("message-id")),
        "text": "\n".join(found["text"]),
        "html": "\n".join(found["html"]),
        "parts": found["parts"],
        "isForwarding": any(part.is_multipart() for part in leaves(message)),
    }


for line in sys.stdin:
    name = line.rstrip("\n")
    with open(name, "rb") as file:
        raw = file.read()
    try:
        print(json.dumps(describe(raw)))
    except Exception as error:  # A message that the package cannot read.
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}))

"""Reads messages with Python's email package. Standard input: a JSON array of messages in base64.
Standard output: a JSON array of {html, text} with decoded parts and LF line ends."""

import base64
import email
import json
import sys


def read(raw):
    found = {}
    for part in email.message_from_bytes(raw).walk():
        if part.is_multipart():
            continue
        text = part.get_payload(decode=True).decode(part.get_content_charset())
        found[part.get_content_subtype()] = text.replace("\r\n", "\n")
    return {"html": found["html"], "text": found["plain"]}


print(json.dumps([read(base64.b64decode(raw)) for raw in json.load(sys.stdin)]))

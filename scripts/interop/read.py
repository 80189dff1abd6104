"""Reads messages without code of this project: MIME with the standard library, DKIM with dkimpy and
keys from the name server. Arguments: port of the name server, then files. Prints JSON."""

import base64
import email
import email.policy
import hashlib
import json
import sys
from email.header import decode_header, make_header
from email.utils import getaddresses

import dkim
import dns.resolver

resolver = dns.resolver.Resolver(configure=False)
resolver.nameservers = ["127.0.0.1"]
resolver.port = int(sys.argv[1])


def find_key(name, timeout=5):
    answer = resolver.resolve(name.decode().rstrip("."), "TXT", lifetime=timeout)
    return b"".join(answer[0].strings)


def verify(raw):
    signed = dkim.DKIM(raw)
    count = raw.count(b"\r\nDKIM-Signature:") + raw.startswith(b"DKIM-Signature:")
    verdicts = {}
    for index in range(count):
        try:
            passed = signed.verify(idx=index, dnsfunc=find_key)
            verdicts[signed.signature_fields[b"a"].decode()] = "pass" if passed else "fail"
        except dkim.DKIMException as error:
            verdicts["signature %d" % index] = str(error)
    return verdicts


def addresses(message, name):
    """Returns [name, address] pairs. The default policy would add a space between encoded words."""
    value = dict(message.raw_items()).get(name, "")
    unfolded = value.replace("\r\n", "").replace("\n", "")
    readable = unfolded.encode("utf-8", "surrogateescape").decode()
    return [
        [str(make_header(decode_header(display))), address]
        for display, address in getaddresses([readable])
    ]


def read(path):
    raw = open(path, "rb").read()
    message = email.message_from_bytes(raw, policy=email.policy.default)
    headers = email.message_from_bytes(raw, policy=email.policy.compat32)
    parts = {"html": None, "text": None, "attachments": []}
    for part in message.walk():
        if part.is_multipart():
            continue
        content = part.get_payload(decode=True)
        if part.get_content_disposition() in ("attachment", "inline"):
            parts["attachments"].append(
                {
                    "filename": part.get_filename(),
                    "type": part.get_content_type(),
                    "sha256": hashlib.sha256(content).hexdigest(),
                    "size": len(content),
                }
            )
        elif part.get_content_type() == "text/html":
            parts["html"] = base64.b64encode(content).decode()
        else:
            parts["text"] = base64.b64encode(content).decode()
    return {
        "case": message["X-Interop"],
        "subject": message["Subject"],
        "from": addresses(headers, "From"),
        "to": addresses(headers, "To"),
        "received": message.get_all("Received", []),
        "longestLine": max(len(line) for line in raw.split(b"\r\n")),
        "dkim": verify(raw),
        **parts,
    }


json.dump([read(path) for path in sys.argv[2:]], sys.stdout)

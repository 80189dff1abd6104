"""Verifies DKIM signatures with dkimpy. Reads {"records": {name: text}, "messages": [base64, ...]}
from its standard input and prints a list of verdicts, such as "rsa-sha256 pass", for each message."""

import base64
import json
import sys

import dkim

asked = json.load(sys.stdin)
records = asked["records"]


def find_key(name, timeout=5):
    return records.get(name.decode().rstrip("."), "").encode()


def verify(raw):
    signed = dkim.DKIM(raw)
    count = raw.count(b"\r\nDKIM-Signature:") + raw.startswith(b"DKIM-Signature:")
    verdicts = []
    for index in range(count):
        try:
            passed = signed.verify(idx=index, dnsfunc=find_key)
            algorithm = signed.signature_fields[b"a"].decode()
            verdicts.append("%s %s" % (algorithm, "pass" if passed else "fail"))
        except dkim.DKIMException as error:
            verdicts.append("signature %d: %s" % (index, error))
    return verdicts


json.dump([verify(base64.b64decode(message)) for message in asked["messages"]], sys.stdout)

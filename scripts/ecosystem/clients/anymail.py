"""Sends mail with Anymail's backend for Resend. It prints one line of JSON for each call."""

import json
import os
from importlib.metadata import version

import django
from django.conf import settings

settings.configure(
    EMAIL_BACKEND="anymail.backends.resend.EmailBackend",
    ANYMAIL={"RESEND_API_KEY": os.environ["RESEND_API_KEY"], "RESEND_API_URL": os.environ["URL"]},
)
django.setup()

from anymail.exceptions import AnymailAPIError  # noqa: E402
from django.core.mail import EmailMultiAlternatives  # noqa: E402

print(json.dumps({"version": version("django-anymail")}))
SENDER = os.environ["SENDER"]


def call(name, mail, expected=None):
    """Prints the fault, unless the call has ended as expected."""
    found, detail = None, ""
    try:
        mail.send()
    except AnymailAPIError as error:
        found, detail = error.status_code, str(error)
    fault = None if found == expected else f"{found}: {detail}"
    print(json.dumps({"call": name, "fault": fault}), flush=True)


def mail(**fields):
    given = {"subject": "Hello", "body": "Hello", "from_email": SENDER, "to": ["ada@example.com"]}
    return EmailMultiAlternatives(**{**given, **fields})


call("text", mail())
rich = mail(
    to=['"Müller, Ada" <ada@example.com>', "b@example.com"],
    cc=["c@example.com"],
    bcc=["d@example.com"],
    reply_to=["help@example.com", "sales@example.com"],
    headers={"X-Order": "1001"},
)
rich.attach_alternative("<p>Hello</p>", "text/html")
rich.attach("a.txt", "hello", "text/plain")
call("HTML, copies and a file", rich)
tagged = mail()
tagged.tags = ["welcome"]
tagged.metadata = {"order": 1001}
call("tags and metadata", tagged)
call("an unverified sender", mail(from_email="a@other.example"), 403)

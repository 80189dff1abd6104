"""Sends mail with the official Python clients of SendGrid and Amazon SES, and with Anymail of Django.

`python3 providers.py URL`: only the URL of the clients is changed. One JSON object is printed for each
call.
"""

import base64
import json
import sys
import urllib.request
from importlib.metadata import version

import boto3
import django
import sendgrid
from anymail.exceptions import AnymailAPIError
from botocore.exceptions import ClientError
from django.conf import settings
from django.core.mail import EmailMultiAlternatives, get_connection
from python_http_client.exceptions import BadRequestsError
from sendgrid.helpers.mail import Attachment, Category, CustomArg, Mail, ReplyTo, SendAt

URL = sys.argv[1]


def call_server(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(URL + path, data, headers, method=method)
    with urllib.request.urlopen(request) as response:
        return response.read().decode()


def caught(inbox, parts):
    """Fails unless the newest message of the inbox has all the parts."""
    raw = call_server("GET", f"/inboxes/{inbox}/messages/latest/raw")
    missing = [part for part in parts if part not in raw]
    assert not missing, f"{missing} are missing in {raw[:1500]}"


def sendgrid_calls(inbox):
    client = sendgrid.SendGridAPIClient(inbox, host=URL)

    def mail():
        made = Mail("shop@example.org", "ada@example.com", "SendGrid in Python", "Hello")
        made.reply_to = ReplyTo("help@example.org", "Help")
        made.category = Category("orders")
        made.custom_arg = CustomArg("order", "7")
        made.send_at = SendAt(1900000000)
        made.attachment = Attachment(base64.b64encode(b"%PDF").decode(), "invoice.pdf")
        return made

    def send():
        answer = client.send(mail())
        parts = ["Subject: SendGrid in Python", "X-SendGrid-Categories: orders", "invoice.pdf"]
        caught(inbox, parts)
        return f"{answer.status_code} {answer.headers['X-Message-Id']}"

    def refused():
        try:
            client.send(Mail("shop@example.org", "ada@nodomain", "Hello", "Hello"))
        except BadRequestsError as error:
            shown = error.to_dict["errors"][0]["message"]
            assert "personalizations.0.to.0.email" in shown, shown
            return f"BadRequestsError: {shown}"
        raise AssertionError("the call was not refused")

    return [("send", send), ("send to an invalid address", refused)]


def ses_calls(inbox):
    options = {
        "endpoint_url": URL,
        "region_name": "eu-west-1",
        "aws_access_key_id": inbox,
        "aws_secret_access_key": "any",
    }
    second, first = boto3.client("sesv2", **options), boto3.client("ses", **options)
    body = {"Text": {"Data": "Hello"}}
    content = {"Simple": {"Subject": {"Data": "SES in Python"}, "Body": body}}
    to = {"ToAddresses": ["ada@example.com"]}

    def send():
        sender = "shop@example.org"
        answer = second.send_email(FromEmailAddress=sender, Destination=to, Content=content)
        caught(inbox, ["Subject: SES in Python", answer["MessageId"]])
        return answer["MessageId"]

    def send_first():
        message = {"Subject": {"Data": "SES 1 in Python"}, "Body": body}
        answer = first.send_email(Source="shop@example.org", Destination=to, Message=message)
        caught(inbox, ["Subject: SES 1 in Python", answer["MessageId"]])
        return answer["MessageId"]

    def send_raw():
        raw = b"From: shop@example.org\nTo: ada@example.com\nSubject: Raw in Python\n\nHello\n"
        answer = first.send_raw_email(RawMessage={"Data": raw})
        caught(inbox, ["Subject: Raw in Python", answer["MessageId"]])
        return answer["MessageId"]

    def refused(send_one, code):
        try:
            send_one()
        except ClientError as error:
            assert error.response["Error"]["Code"] == code, error
            return f"{type(error).__name__}: {error}"
        raise AssertionError("the call was not refused")

    return [
        ("sesv2 send_email", send),
        ("ses send_email", send_first),
        ("ses send_raw_email", send_raw),
        (
            "sesv2 send_email from an invalid address",
            lambda: refused(
                lambda: second.send_email(
                    FromEmailAddress="nobody", Destination=to, Content=content
                ),
                "BadRequestException",
            ),
        ),
        (
            "ses send_raw_email of no message",
            lambda: refused(
                lambda: first.send_raw_email(RawMessage={"Data": b"Hello"}),
                "InvalidParameterValue",
            ),
        ),
    ]


def anymail_calls(inbox):
    settings.configure(
        ANYMAIL={
            "SENDGRID_API_KEY": inbox,
            "SENDGRID_API_URL": f"{URL}/v3/",
            "POSTMARK_SERVER_TOKEN": inbox,
            "POSTMARK_API_URL": f"{URL}/",
            "MAILGUN_API_KEY": inbox,
            "MAILGUN_API_URL": f"{URL}/v3",
            "MAILGUN_SENDER_DOMAIN": "mg.example.org",
            "AMAZON_SES_CLIENT_PARAMS": {
                "endpoint_url": URL,
                "region_name": "eu-west-1",
                "aws_access_key_id": inbox,
                "aws_secret_access_key": "any",
            },
        }
    )
    django.setup()

    def mail(backend, to=("Ada Übel <ada@example.com>", "bob@example.com")):
        made = EmailMultiAlternatives(
            subject=f"Grüße from {backend}",
            body="Hello",
            from_email="Shop <shop@example.org>",
            to=list(to),
            cc=["carol@example.com"],
            reply_to=["help@example.org"],
            headers={"X-Order": "7", "X-Backend": backend},
            connection=get_connection(f"anymail.backends.{backend}.EmailBackend"),
        )
        made.attach_alternative("<p>Hello</p>", "text/html")
        made.attach("invoice.pdf", b"%PDF", "application/pdf")
        made.tags = ["orders"]
        made.metadata = {"order": "7"}
        return made

    def send(backend):
        made = mail(backend)
        made.send()
        caught(inbox, ["X-Order: 7", "invoice.pdf", "carol@example.com", f"X-Backend: {backend}"])
        assert made.anymail_status.status <= {"queued", "sent"}, made.anymail_status.status
        return str(made.anymail_status.message_id)

    def refused(backend):
        try:
            mail(backend, to=["ada@nodomain"]).send()
        except AnymailAPIError as error:
            return f"{type(error).__name__}: {str(error)[-200:]}"
        raise AssertionError("the call was not refused")

    backends = ["sendgrid", "postmark", "mailgun", "amazon_ses"]
    return [
        *[(f"{name} send", lambda name=name: send(name)) for name in backends],
        *[(f"{name} to an invalid address", lambda name=name: refused(name)) for name in backends],
    ]


CLIENTS = [("sendgrid", sendgrid_calls), ("boto3", ses_calls), ("django-anymail", anymail_calls)]
for package, calls in CLIENTS:
    inbox = f"python-{package}"
    call_server("POST", "/inboxes", {"name": inbox})
    for name, run in calls(inbox):
        try:
            result = {"isOk": True, "text": str(run())}
        except Exception as error:  # Each call has a result in the table.
            result = {"isOk": False, "text": f"{type(error).__name__}: {error}"}
        row = {"name": f"{package} (Python)", "version": version(package), "call": name}
        print(json.dumps({**row, **result}), flush=True)

"""Submits a mail with smtplib. Arguments: port, secret key, and a JSON file with the mail."""

import json
import smtplib
import sys
from email.message import EmailMessage

port, key, file = sys.argv[1:]
with open(file, encoding="utf-8") as source:
    mail = json.load(source)

message = EmailMessage()
message["From"] = mail["from"]
message["To"] = mail["to"]
message["Subject"] = mail["subject"]
message.set_content(mail["text"])
message.add_alternative(mail["html"], subtype="html")
with open(mail["attachment"], "rb") as source:
    message.add_attachment(
        source.read(), maintype="application", subtype="octet-stream", filename=mail["filename"]
    )

with smtplib.SMTP("127.0.0.1", int(port)) as client:
    client.login("any", key)
    client.send_message(message)

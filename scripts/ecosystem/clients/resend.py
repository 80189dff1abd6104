"""Calls the server with the official client of Resend for Python. It prints one line of JSON for each call."""

import json
import os
from datetime import datetime, timedelta, timezone

import resend
from resend.version import get_version

print(json.dumps({"version": get_version()}))
SENDER, DOMAIN = os.environ["SENDER"], os.environ["DOMAIN"]


def call(name, run, expected=None):
    """Prints the fault, unless the call has ended as expected."""
    found, data, detail = None, {}, ""
    try:
        data = run()
    except Exception as error:
        found = getattr(error, "error_type", type(error).__name__)
        detail = str(error)
    fault = None if found == expected else f"{found}: {detail}"
    print(json.dumps({"call": name, "fault": fault}), flush=True)
    return data or {}


mail = {"from": SENDER, "to": ["ada@example.com"], "subject": "Hello", "html": "<p>Hello</p>"}
files = [
    {"filename": "a.txt", "content": list(b"hello")},
    {"filename": "b.txt", "content": "aW5saW5l", "content_id": "b"},
]
sent = call(
    "Emails.send",
    lambda: resend.Emails.send(
        {**mail, "text": "Hello", "bcc": "b@example.com", "reply_to": SENDER, "attachments": files}
    ),
)
key = {"idempotency_key": "python-1"}
call("Emails.send with a key", lambda: resend.Emails.send(mail, key))
call(
    "Emails.send with a used key",
    lambda: resend.Emails.send({**mail, "subject": "Other"}, key),
    "invalid_idempotent_request",
)
call("Emails.get", lambda: resend.Emails.get(sent["id"]))
later = {**mail, "tags": [{"name": "order", "value": "1001"}]}
later["scheduled_at"] = (datetime.now(timezone.utc) + timedelta(hours=1)).isoformat()
scheduled = call("Emails.send later", lambda: resend.Emails.send(later))["id"]
time = (datetime.now(timezone.utc) + timedelta(hours=2)).isoformat()
call("Emails.update", lambda: resend.Emails.update({"id": scheduled, "scheduled_at": time}))
call("Emails.cancel", lambda: resend.Emails.cancel(scheduled))
call("Emails.list", lambda: resend.Emails.list({"limit": 2}))
parts = call("Emails.Attachments.list", lambda: resend.Emails.Attachments.list(sent["id"]))
part = parts["data"][0]["id"]
call("Emails.Attachments.get", lambda: resend.Emails.Attachments.get(sent["id"], part))
call("Emails.Receiving.list", lambda: resend.Emails.Receiving.list({"limit": 2}))
call("Emails.Receiving.get none", lambda: resend.Emails.Receiving.get("none"), "not_found")
call("Suppressions.add", lambda: resend.Suppressions.add({"email": "gone@example.com"}))
call("Suppressions.list", lambda: resend.Suppressions.list({"origin": "manual"}))
call("Suppressions.get", lambda: resend.Suppressions.get("gone@example.com"))
call("Suppressions.remove", lambda: resend.Suppressions.remove("gone@example.com"))
call(
    "Emails.send without a recipient",
    lambda: resend.Emails.send({k: v for k, v in mail.items() if k != "to"}),
    "missing_required_field",
)
call("Batch.send", lambda: resend.Batch.send([mail, {**mail, "to": "b@example.com"}]))

template = call(
    "Templates.create",
    lambda: resend.Templates.create(
        {"name": "Receipt", "subject": "Order", "html": "<p>{{{ORDER|1}}}</p>"}
    ),
)["id"]
call("Templates.publish", lambda: resend.Templates.publish(template))
call("Templates.update", lambda: resend.Templates.update({"id": template, "name": "Bill"}))
call("Templates.get", lambda: resend.Templates.get(template))
call("Templates.list", lambda: resend.Templates.list())
call("Templates.remove", lambda: resend.Templates.remove(template))

added = call("Domains.create", lambda: resend.Domains.create({"name": DOMAIN}))
call("Domains.get", lambda: resend.Domains.get(added["id"]))
call("Domains.list", lambda: resend.Domains.list())
call("Domains.verify", lambda: resend.Domains.verify(added["id"]))
call("Domains.remove", lambda: resend.Domains.remove(added["id"]))

audience = call("Audiences.create", lambda: resend.Audiences.create({"name": "News"}))["id"]
contact = call(
    "Contacts.create in an audience",
    lambda: resend.Contacts.create(
        {"email": "py@example.com", "audience_id": audience, "first_name": "Ada"}
    ),
)
call("Contacts.create", lambda: resend.Contacts.create({"email": "py2@example.com"}))
call("Contacts.get", lambda: resend.Contacts.get(email="py@example.com"))
call(
    "Contacts.update",
    lambda: resend.Contacts.update({"id": contact["id"], "unsubscribed": True}),
)
call(
    "Contacts.update in an audience",
    lambda: resend.Contacts.update(
        {"id": contact["id"], "audience_id": audience, "last_name": "Lovelace"}
    ),
)
call("Contacts.list of an audience", lambda: resend.Contacts.list(audience_id=audience))
call("Contacts.list", lambda: resend.Contacts.list())
broadcast = call(
    "Broadcasts.create",
    lambda: resend.Broadcasts.create(
        {"audience_id": audience, "from": SENDER, "subject": "News", "html": "<p>Hello</p>"}
    ),
)["id"]
call(
    "Broadcasts.update",
    lambda: resend.Broadcasts.update({"broadcast_id": broadcast, "name": "Spring"}),
)
call("Broadcasts.get", lambda: resend.Broadcasts.get(broadcast))
call("Broadcasts.list", lambda: resend.Broadcasts.list())
call("Broadcasts.remove", lambda: resend.Broadcasts.remove(broadcast))
hook = {"endpoint": "https://hooks.example.com/", "events": ["email.delivered"]}
webhook = call("Webhooks.create", lambda: resend.Webhooks.create(hook))["id"]
call(
    "Webhooks.update",
    lambda: resend.Webhooks.update({"webhook_id": webhook, "status": "disabled"}),
)
call("Webhooks.get", lambda: resend.Webhooks.get(webhook))
call("Webhooks.list", lambda: resend.Webhooks.list())
call("Webhooks.list_events", lambda: resend.Webhooks.list_events(webhook))
call("Webhooks.remove", lambda: resend.Webhooks.remove(webhook))
call("Contacts.remove", lambda: resend.Contacts.remove(id=contact["id"]))
call("Audiences.get", lambda: resend.Audiences.get(audience))
call("Audiences.list", lambda: resend.Audiences.list())
call("Audiences.remove", lambda: resend.Audiences.remove(audience))
call("ApiKeys.list", lambda: resend.ApiKeys.list())
resend.api_key = "re_wrong"
call("a wrong key", lambda: resend.Emails.list(), "invalid_api_key")

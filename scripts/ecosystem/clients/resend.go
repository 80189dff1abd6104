// Calls the server with the official client of Resend for Go. It prints one line of JSON for each call.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/resend/resend-go/v3"
)

func print(line any) {
	text, _ := json.Marshal(line)
	fmt.Println(string(text))
}

// call prints the fault, unless the call has ended as expected.
func call(name string, run func() error, expected string) {
	err := run()
	var fault any
	if err == nil && expected != "" {
		fault = "no error"
	}
	if err != nil && (expected == "" || !strings.Contains(err.Error(), expected)) {
		fault = err.Error()
	}
	print(map[string]any{"call": name, "fault": fault})
}

func main() {
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if strings.Contains(dependency.Path, "resend-go") {
				version = strings.TrimPrefix(dependency.Version, "v")
			}
		}
	}
	print(map[string]any{"version": version})
	sender, domain := os.Getenv("SENDER"), os.Getenv("DOMAIN")
	client := resend.NewClient(os.Getenv("RESEND_API_KEY"))
	mail := func() *resend.SendEmailRequest {
		return &resend.SendEmailRequest{
			From: sender, To: []string{"ada@example.com"}, Subject: "Hello", Html: "<p>Hello</p>",
		}
	}
	id := ""
	call("Emails.Send", func() error {
		request := mail()
		request.Text = "Hello"
		request.Cc = []string{"b@example.com"}
		request.ReplyTo = sender
		request.Attachments = []*resend.Attachment{
			{Content: []byte("hello"), Filename: "a.txt"},
			{Content: []byte("inline"), Filename: "b.txt", ContentId: "b"},
		}
		sent, err := client.Emails.Send(request)
		if err == nil {
			id = sent.Id
		}
		return err
	}, "")
	options := &resend.SendEmailOptions{IdempotencyKey: "go-1"}
	call("Emails.SendWithOptions with a key", func() error {
		_, err := client.Emails.SendWithOptions(context.Background(), mail(), options)
		return err
	}, "")
	call("Emails.SendWithOptions with a used key", func() error {
		request := mail()
		request.Subject = "Other"
		_, err := client.Emails.SendWithOptions(context.Background(), request, options)
		return err
	}, "Idempotency-Key")
	call("Emails.Get", func() error { _, err := client.Emails.Get(id); return err }, "")
	part := ""
	call("Emails.ListAttachments", func() error {
		parts, err := client.Emails.ListAttachments(id)
		if err == nil {
			part = parts.Data[0].Id
		}
		return err
	}, "")
	call("Emails.GetAttachment", func() error {
		_, err := client.Emails.GetAttachment(id, part)
		return err
	}, "")
	call("Receiving.List", func() error { _, err := client.Emails.Receiving.List(); return err }, "")
	call("Receiving.Get none", func() error {
		_, err := client.Emails.Receiving.Get("none")
		return err
	}, "No such")
	scheduled := ""
	call("Emails.Send later", func() error {
		request := mail()
		request.ScheduledAt = "in 1 hour"
		request.Tags = []resend.Tag{{Name: "order", Value: "1001"}}
		sent, err := client.Emails.Send(request)
		if err == nil {
			scheduled = sent.Id
		}
		return err
	}, "")
	call("Emails.Update", func() error {
		change := &resend.UpdateEmailRequest{Id: scheduled, ScheduledAt: "in 2 hours"}
		_, err := client.Emails.Update(change)
		return err
	}, "")
	call("Emails.Cancel", func() error { _, err := client.Emails.Cancel(scheduled); return err }, "")
	call("Emails.List", func() error { _, err := client.Emails.List(); return err }, "")
	call("Emails.Send without a recipient", func() error {
		request := mail()
		request.To = nil
		_, err := client.Emails.Send(request)
		return err
	}, "to:")
	call("Batch.Send", func() error {
		_, err := client.Batch.Send([]*resend.SendEmailRequest{mail(), mail()})
		return err
	}, "")

	template := ""
	call("Templates.Create", func() error {
		made, err := client.Templates.Create(&resend.CreateTemplateRequest{
			Name: "Receipt", Subject: "Order", Html: "<p>{{{ORDER|1}}}</p>",
		})
		if err == nil {
			template = made.Id
		}
		return err
	}, "")
	call("Templates.Publish", func() error { _, err := client.Templates.Publish(template); return err }, "")
	call("Templates.Get", func() error { _, err := client.Templates.Get(template); return err }, "")
	call("Templates.Remove", func() error { _, err := client.Templates.Remove(template); return err }, "")

	domainId := ""
	call("Domains.Create", func() error {
		added, err := client.Domains.Create(&resend.CreateDomainRequest{Name: domain})
		domainId = added.Id
		return err
	}, "")
	call("Domains.Get", func() error { _, err := client.Domains.Get(domainId); return err }, "")
	call("Domains.List", func() error { _, err := client.Domains.List(); return err }, "")
	call("Domains.Verify", func() error { _, err := client.Domains.Verify(domainId); return err }, "")
	call("Domains.Remove", func() error { _, err := client.Domains.Remove(domainId); return err }, "")

	segment := ""
	call("Segments.Create", func() error {
		made, err := client.Segments.Create(&resend.CreateSegmentRequest{Name: "News"})
		segment = made.Id
		return err
	}, "")
	contact := ""
	call("Contacts.Create in an audience", func() error {
		made, err := client.Contacts.Create(&resend.CreateContactRequest{
			Email: "go@example.com", AudienceId: segment, FirstName: "Ada",
		})
		contact = made.Id
		return err
	}, "")
	call("Contacts.Get", func() error {
		_, err := client.Contacts.Get(&resend.GetContactOptions{Id: "go@example.com"})
		return err
	}, "")
	call("Contacts.Update", func() error {
		change := &resend.UpdateContactRequest{Id: contact, LastName: "Lovelace"}
		change.SetUnsubscribed(true)
		_, err := client.Contacts.Update(change)
		return err
	}, "")
	call("Contacts.List", func() error {
		_, err := client.Contacts.List(&resend.ListContactsOptions{})
		return err
	}, "")
	call("Contacts.List of an audience", func() error {
		_, err := client.Contacts.List(&resend.ListContactsOptions{AudienceId: segment})
		return err
	}, "")
	// The client creates, updates and sends broadcasts at the root of the host, without the path of the
	// address, so only the list is called here.
	call("Broadcasts.List", func() error { _, err := client.Broadcasts.List(); return err }, "")
	webhook := ""
	call("Webhooks.Create", func() error {
		made, err := client.Webhooks.Create(&resend.CreateWebhookRequest{
			Endpoint: "https://hooks.example.com/", Events: []string{"email.delivered"},
		})
		if err == nil {
			webhook = made.Id
		}
		return err
	}, "")
	call("Webhooks.Get", func() error { _, err := client.Webhooks.Get(webhook); return err }, "")
	call("Webhooks.List", func() error { _, err := client.Webhooks.List(); return err }, "")
	call("Webhooks.Remove", func() error { _, err := client.Webhooks.Remove(webhook); return err }, "")
	call("Contacts.Remove", func() error {
		_, err := client.Contacts.Remove(&resend.RemoveContactOptions{Id: contact})
		return err
	}, "")
	call("Segments.Get", func() error { _, err := client.Segments.Get(segment); return err }, "")
	call("Segments.List", func() error { _, err := client.Segments.List(); return err }, "")
	call("Segments.Remove", func() error { _, err := client.Segments.Remove(segment); return err }, "")
	call("ApiKeys.List", func() error { _, err := client.ApiKeys.List(); return err }, "")
	wrong := resend.NewClient("re_wrong")
	call("a wrong key", func() error { _, err := wrong.Emails.List(); return err }, "API key")
}

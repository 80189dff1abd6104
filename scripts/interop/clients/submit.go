// Submits a mail with net/smtp, with 8-bit texts. Arguments: port, secret key, JSON file with the mail.
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"net/smtp"
	"os"
	"strings"
)

type mail struct{ From, To, Subject, Text, Html, Attachment, Filename string }

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	port, key := os.Args[1], os.Args[2]
	source, err := os.ReadFile(os.Args[3])
	check(err)
	var m mail
	check(json.Unmarshal(source, &m))
	file, err := os.ReadFile(m.Attachment)
	check(err)

	var content strings.Builder
	encoded := base64.StdEncoding.EncodeToString(file)
	for len(encoded) > 76 {
		content.WriteString(encoded[:76] + "\r\n")
		encoded = encoded[76:]
	}
	content.WriteString(encoded + "\r\n")
	lines := strings.ReplaceAll(m.Text, "\n", "\r\n")
	message := "From: " + m.From + "\r\nTo: " + m.To + "\r\n" +
		"Subject: " + mime.QEncoding.Encode("utf-8", m.Subject) + "\r\nMIME-Version: 1.0\r\n" +
		"Content-Type: multipart/mixed; boundary=mixed\r\n\r\n--mixed\r\n" +
		"Content-Type: multipart/alternative; boundary=alternative\r\n\r\n--alternative\r\n" +
		"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n" + lines +
		"\r\n--alternative\r\n" +
		"Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n" + m.Html +
		"\r\n--alternative--\r\n--mixed\r\nContent-Type: application/octet-stream\r\n" +
		"Content-Disposition: attachment; filename=\"" + mime.QEncoding.Encode("utf-8", m.Filename) + "\"\r\n" +
		"Content-Transfer-Encoding: base64\r\n\r\n" + content.String() + "--mixed--\r\n"
	auth := smtp.PlainAuth("", "any", key, "127.0.0.1")
	check(smtp.SendMail("127.0.0.1:"+port, auth, m.From, []string{m.To}, []byte(message)))
}

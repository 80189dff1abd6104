/** The templates that a new one may start from. All are HTML that the large mail programs show alike. */

import type { Template } from "../../../../modules/templates.ts";
import { FONT, htmlPage } from "../html-page.ts";

export type Starter = {
  key: string;
  title: string;
  text: string;
  type: Template["type"];
  subject: string;
  preheader: string | null;
  body: string;
};

const TEXT = "margin: 0 0 16px; font-size: 16px; line-height: 1.6";
const SMALL = "margin: 0; font-size: 13px; line-height: 1.6; color: #586170";
const HEADING = "margin: 0 0 16px; font-size: 24px; line-height: 1.3";

/** A white column with `content`. */
const column = (content: string): string =>
  htmlPage(
    "background: #ffffff; color: #16191f; border-radius: 10px",
    `            <tr>
              <td style="padding: 32px; ${FONT}">
${content}
              </td>
            </tr>`,
  );

const lines = (...texts: string[]): string =>
  texts.map((text) => `                ${text.replaceAll("\n", "\n                ")}`).join("\n");

const button = (url: string, text: string): string => `<p style="margin: 24px 0">
  <a href="${url}" style="display: inline-block; padding: 12px 22px; border-radius: 8px; background: #4338ca; color: #ffffff; font-size: 16px; font-weight: 600; text-decoration: none">${text}</a>
</p>`;

export const BLANK_BODY = `<p>Hello,</p>

<p></p>
`;

export const STARTERS: readonly Starter[] = [
  {
    key: "note",
    title: "Plain note",
    text: "A letter without a frame, as a person writes it.",
    type: "TRANSACTIONAL",
    subject: "A short note, {{ name ?? friend }}",
    preheader: null,
    body: `<div style="max-width: 600px; ${FONT}; font-size: 16px; line-height: 1.6">
  <p>Hello {{ name ?? there }},</p>
  <p>thank you for trying {{ project.name }}. Is there anything that you are missing?</p>
  <p>Just reply to this mail: a person reads it.</p>
  <p>Best wishes<br>{{ project.name }}</p>
</div>
`,
  },
  {
    key: "welcome",
    title: "Welcome",
    text: "The first mail, with one next step.",
    type: "TRANSACTIONAL",
    subject: "Welcome to {{ project.name }}",
    preheader: "Three minutes to get started.",
    body: column(
      lines(
        `<h1 style="${HEADING}">Welcome, {{ name ?? friend }}</h1>`,
        `<p style="${TEXT}">It is good to have you here. This is the one thing to do first:</p>`,
        button("https://example.com/start", "Get started"),
        `<p style="${TEXT}">Later you may want to:</p>`,
        `<ul style="margin: 0 0 16px; padding-left: 20px; font-size: 16px; line-height: 1.6">
  <li>invite your team,</li>
  <li>add your own data,</li>
  <li>read the guide.</li>
</ul>`,
        `<p style="${SMALL}">You get this mail because you signed up at {{ project.name }}.</p>`,
      ),
    ),
  },
  {
    key: "receipt",
    title: "Order receipt",
    text: "A list of items with prices and a total.",
    type: "TRANSACTIONAL",
    subject: "Your order {{ order.number ?? '' }}",
    preheader: "Thank you. This is what you ordered.",
    body: column(
      lines(
        `<h1 style="${HEADING}">Thank you for your order</h1>`,
        `<p style="${TEXT}">Order {{ order.number }} of {{ order.date | date: "%d %B %Y" }}</p>`,
        `<table width="100%" cellpadding="0" cellspacing="0" style="margin: 0 0 16px; font-size: 16px; line-height: 1.6">
  {% for item in order.items %}
  <tr>
    <td style="padding: 10px 0; border-bottom: 1px solid #e3e6eb">{{ item.quantity ?? 1 }} × {{ item.name }}</td>
    <td align="right" style="padding: 10px 0; border-bottom: 1px solid #e3e6eb">{{ item.price }}</td>
  </tr>
  {% endfor %}
  <tr>
    <td style="padding: 12px 0; font-weight: 600">Total</td>
    <td align="right" style="padding: 12px 0; font-weight: 600">{{ order.total }}</td>
  </tr>
</table>`,
        `{% if order.url %}`,
        button("{{ order.url }}", "View the order"),
        `{% endif %}`,
        `<p style="${SMALL}">Questions? Reply to this mail.</p>`,
      ),
    ),
  },
  {
    key: "newsletter",
    title: "Newsletter",
    text: "Three articles, for subscribed contacts.",
    type: "MARKETING",
    subject: "What is new at {{ project.name }}",
    preheader: "Three short stories of this month.",
    body: column(
      lines(
        `<p style="${SMALL}">{{ project.name }}</p>`,
        `<h1 style="${HEADING}">What is new</h1>`,
        ...["The first story", "The second story", "The third story"].map(
          (
            title,
          ) => `<h2 style="margin: 24px 0 8px; font-size: 18px; line-height: 1.4">${title}</h2>
<p style="${TEXT}">Two or three sentences that say what it is about. <a href="https://example.com/news" style="color: #4338ca">Read more about it</a></p>`,
        ),
        `<hr style="margin: 24px 0; border: 0; border-top: 1px solid #e3e6eb">`,
        `<p style="${SMALL}">You get this mail because you subscribed. <a href="{{ unsubscribeUrl }}" style="color: #586170">Unsubscribe</a></p>`,
      ),
    ),
  },
  {
    key: "password",
    title: "Password reset",
    text: "One link that works for an hour.",
    type: "TRANSACTIONAL",
    subject: "Choose a new password",
    preheader: "The link works for one hour.",
    body: column(
      lines(
        `<h1 style="${HEADING}">Choose a new password</h1>`,
        `<p style="${TEXT}">Somebody, probably you, asked for a new password for {{ email }}.</p>`,
        button("{{ resetUrl }}", "Choose a new password"),
        `<p style="${TEXT}">The link works for one hour, and once. If you did not ask for it, you need not do anything: your password stays as it is.</p>`,
        `<p style="${SMALL}">If the button does not work, open this address: {{ resetUrl }}</p>`,
      ),
    ),
  },
];

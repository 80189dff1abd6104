/** The templates of the demonstration: names, subjects and bodies in Liquid. */

export const SHOP = "Harbour Books";
export const SITE = "https://www.harbourbooks.example";
export const NEWS_SENDER = "news@harbourbooks.example";
export const ORDERS_SENDER = "orders@harbourbooks.example";

export type TemplateText = {
  key: string;
  name: string;
  type: "TRANSACTIONAL" | "MARKETING";
  subject: string;
  body: string;
};

/** A mail in the layout of the shop. The texts may hold Liquid and HTML. */
export function layout(heading: string, paragraphs: readonly string[], button?: [string, string]) {
  const link =
    button === undefined
      ? ""
      : `<p style="margin:24px 0"><a href="${button[1]}" style="background:#0b5d7a;color:#ffffff;padding:12px 20px;border-radius:6px;text-decoration:none">${button[0]}</a></p>`;
  return `<!doctype html><html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"></head>
<body style="margin:0;background:#f3f5f6"><table role="presentation" width="100%"><tr><td align="center" style="padding:24px">
<table role="presentation" width="100%" style="max-width:600px;background:#ffffff;border-radius:8px"><tr><td style="padding:32px;font-family:Georgia,serif;color:#1d2a30;line-height:1.5">
<p style="font-size:13px;color:#51646d;margin:0 0 16px">${SHOP}</p>
<h1 style="font-size:24px;margin:0 0 16px">${heading}</h1>
${paragraphs.map((text) => `<p>${text}</p>`).join("\n")}${link}
<p style="font-size:13px;color:#51646d">${SHOP}, 4 Quay Street, Bristol · <a href="${SITE}/contact">Contact us</a></p>
</td></tr></table></td></tr></table></body></html>`;
}

type Row = readonly [
  key: string,
  name: string,
  subject: string,
  heading: string,
  text: string,
  label: string,
  path: string,
];

const GREETING = "Hello {{ name ?? reader }},";

const TRANSACTIONAL: readonly Row[] = [
  [
    "order",
    "Order confirmation",
    "Your order {{ order }} at Harbour Books",
    "Thank you for your order",
    "we have received your order <b>{{ order }}</b> of {{ total }} and are packing it now.",
    "View the order",
    "/orders/{{ order }}",
  ],
  [
    "shipped",
    "Parcel shipped",
    "Order {{ order }} is on its way",
    "Your parcel has left the harbour",
    "the carrier collected your parcel today. It should arrive in two to four days.",
    "Track the parcel",
    "/track/{{ order }}",
  ],
  [
    "delivered",
    "Parcel delivered",
    "Order {{ order }} was delivered",
    "Your books have arrived",
    "the carrier reports that your parcel was delivered. Is anything missing?",
    "Tell us",
    "/orders/{{ order }}/help",
  ],
  [
    "reset",
    "Password reset",
    "Reset your password",
    "Reset your password",
    "you asked for a new password. The link is valid for one hour. If it was not you, ignore this mail.",
    "Choose a new password",
    "/account/reset?code={{ code }}",
  ],
  [
    "signin",
    "Sign-in code",
    "{{ code }} is your sign-in code",
    "Your sign-in code",
    "enter the code <b>{{ code }}</b> within ten minutes.",
    "Open the account page",
    "/account",
  ],
  [
    "verify",
    "Confirm the address",
    "Please confirm your email address",
    "One click and you are aboard",
    "please confirm that this address belongs to you.",
    "Confirm the address",
    "/account/confirm?code={{ code }}",
  ],
  [
    "invoice",
    "Invoice",
    "Invoice for order {{ order }}",
    "Your invoice",
    "the invoice of {{ total }} for your order is in your account.",
    "Download the invoice",
    "/orders/{{ order }}/invoice",
  ],
  [
    "refund",
    "Refund",
    "We refunded {{ total }}",
    "Your refund",
    "we have refunded {{ total }} to the card that you paid with. It takes up to five days.",
    "View the order",
    "/orders/{{ order }}",
  ],
  [
    "payment",
    "Payment failed",
    "The payment for order {{ order }} failed",
    "We could not charge your card",
    "please check the card for your order {{ order }}. We keep the books for three days.",
    "Pay again",
    "/orders/{{ order }}/pay",
  ],
  [
    "stock",
    "Back in stock",
    "A book on your list is back",
    "It is back on the shelf",
    "a book that you asked for is available again.",
    "See the book",
    "/books/{{ order }}",
  ],
  [
    "giftcard",
    "Gift card",
    "A gift card for you",
    "Somebody wishes you good reading",
    "your gift card is worth {{ total }}. The code is <b>{{ code }}</b>.",
    "Choose a book",
    "/gift",
  ],
  [
    "pickup",
    "Ready for collection",
    "Order {{ order }} is ready to collect",
    "Your books wait for you",
    "please bring this mail to our shop on the quay within ten days.",
    "Opening hours",
    "/shop",
  ],
  [
    "support",
    "Answer of the support team",
    "Re: Your question about order {{ order }}",
    "We have answered your question",
    "one of our booksellers has answered your question.",
    "Read the answer",
    "/help/{{ order }}",
  ],
  [
    "event",
    "Ticket for a reading",
    "Your ticket for the reading",
    "See you on Thursday",
    "this is your ticket for the reading on the upper deck. The doors open at seven.",
    "Show the ticket",
    "/events/{{ order }}",
  ],
];

const MARKETING: readonly Row[] = [
  [
    "welcome",
    "Welcome to the crew",
    "Welcome aboard, {{ name ?? reader }}",
    "Welcome aboard",
    "every Thursday we write about three books that kept us up at night.",
    "Browse the shelves",
    "/new",
  ],
  [
    "tips",
    "Three ways to find your next book",
    "Three ways to find your next book",
    "Find your next book",
    "ask a bookseller, follow a list, or open the surprise drawer.",
    "Open the drawer",
    "/surprise",
  ],
  [
    "cart",
    "Abandoned basket",
    "You left something on the quay",
    "Your basket is still here",
    "the books in your basket are reserved until tomorrow evening.",
    "Back to the basket",
    "/basket",
  ],
  [
    "cart-last",
    "Abandoned basket, last call",
    "Last call for your basket",
    "Last call",
    "after today the books go back to the shelf.",
    "Back to the basket",
    "/basket",
  ],
  [
    "review",
    "Ask for a review",
    "How was the book?",
    "Tell other readers",
    "two sentences are enough, and you get fifty points for them.",
    "Write a review",
    "/reviews/new",
  ],
  [
    "winback",
    "We miss you",
    "It has been a while, {{ name ?? reader }}",
    "It has been a while",
    "since your last visit more than four hundred books have come in.",
    "See what is new",
    "/new",
  ],
  [
    "club",
    "Invitation to the book club",
    "A seat at our book club",
    "A seat for you",
    "members read one book a month and get it at a fifth off.",
    "Join the club",
    "/club",
  ],
  [
    "birthday",
    "Birthday",
    "Happy birthday from the harbour",
    "Happy birthday",
    "a book is on us: choose one for up to ten pounds.",
    "Choose a book",
    "/gift",
  ],
  [
    "survey",
    "Yearly survey",
    "Four questions about Harbour Books",
    "Four questions",
    "your answers decide which shelf grows next year.",
    "Answer",
    "/survey",
  ],
  [
    "points",
    "Points that expire",
    "Your points expire soon",
    "Use your points",
    "your points of last year expire at the end of the month.",
    "Use the points",
    "/points",
  ],
  [
    "digest",
    "Monthly digest",
    "Your month in books",
    "Your month in books",
    "what you read, what others read, and what comes next.",
    "Read the digest",
    "/digest",
  ],
];

function templatesOf(type: TemplateText["type"], rows: readonly Row[]): TemplateText[] {
  return rows.map(([key, name, subject, heading, text, label, path]) => ({
    key,
    name,
    type,
    subject,
    body: layout(heading, [GREETING, text], [label, SITE + path]),
  }));
}

export const TEMPLATES: readonly TemplateText[] = [
  ...templatesOf("TRANSACTIONAL", TRANSACTIONAL),
  ...templatesOf("MARKETING", MARKETING),
];

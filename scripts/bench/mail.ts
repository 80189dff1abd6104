/** The mail of all measurements: it has two variables and the size of an order confirmation. */

export const SENDER_DOMAIN = "bench.test";
export const SENDER = `hello@${SENDER_DOMAIN}`;
export const SUBJECT = "Your order {{ order }}";
export const BODY =
  "<h1>Thank you, {{ name }}!</h1><p>We have your order <b>{{ order }}</b> and will tell you as " +
  "soon as it is on its way. You need not do anything until then.</p>" +
  '<p><a href="https://shop.example.com/orders">Look at your orders</a></p>';

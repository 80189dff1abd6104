/** Texts in Polish. */

import type { Texts } from "../language.ts";

export const pl: Texts = {
  language: "pl",
  unsubscribe: "Wypisz się",
  subscribe: "Zapisz się",
  newAddress: "podany później",
  askUnsubscribe: {
    title: "Czy chcesz się wypisać?",
    text: "{project} nie będzie już wysyłać newsletterów na adres {email}.",
  },
  askSubscribe: {
    title: "Czy chcesz się zapisać?",
    text: "{project} będzie wysyłać newslettery na adres {email}.",
  },
  unsubscribed: {
    title: "Wypisano z newslettera",
    text: "{project} nie wysyła newsletterów na adres {email}.",
  },
  subscribed: {
    title: "Zapisano na newsletter",
    text: "{project} wysyła newslettery na adres {email}.",
  },
  manage: "Twoja subskrypcja",
  note: "Nadal możesz otrzymywać wiadomości o zamówieniach lub o swoim koncie.",
  contactDeleted: {
    title: "Ten link jest już nieaktualny",
    text: "Ta wiadomość została wysłana na adres, który od tego czasu usunięto. Jeśli nadal otrzymujesz newslettery, skorzystaj z linku w najnowszym z nich.",
  },
  invalidLink: {
    title: "Ten link nie działa",
    text: "Być może jest niepełny. Otwórz go ponownie z wiadomości lub skopiuj w całości.",
  },
  serverError: {
    title: "Nie udało się",
    text: "Wystąpił błąd po naszej stronie. Spróbuj ponownie za kilka minut.",
  },
  footer: "Otrzymujesz tę wiadomość, ponieważ subskrybujesz newslettery nadawcy {project}.",
};

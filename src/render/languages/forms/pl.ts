/** Texts of sign-up forms in Polish. */

import type { FormTexts } from "../../form-texts.ts";

export const plForm: FormTexts = {
  email: "Adres e-mail",
  optional: "opcjonalnie",
  choose: "Wybierz",
  topics: "Co chcesz otrzymywać?",
  trap: "Pozostaw to pole puste",
  summary: "Sprawdź zaznaczone pola.",
  errors: {
    required: "Wypełnij to pole.",
    email: "Wpisz adres e-mail, na przykład ada@example.com.",
    tooLong: "Wpisz najwyżej {max} znaków.",
    number: "Wpisz liczbę.",
    date: "Wpisz datę.",
    choice: "Wybierz jedną z pozycji.",
    checkbox: "Zaznacz to pole.",
    consent: "Wyraź zgodę.",
  },
  checkInbox: {
    title: "Sprawdź swoją skrzynkę",
    text: "Wysłaliśmy wiadomość z linkiem. Subskrypcja rozpocznie się, gdy otworzysz link i ją potwierdzisz.",
  },
  thanks: {
    title: "Dziękujemy za zapisanie się",
    text: "Jeśli będziemy potrzebować potwierdzenia, w Twojej skrzynce znajdzie się wiadomość z linkiem.",
  },
  closed: {
    title: "Ten formularz jest zamknięty",
    text: "Obecnie nie można się tutaj zapisać.",
  },
  tooMany: { title: "Zbyt wiele żądań", text: "Spróbuj ponownie za godzinę." },
  foreign: {
    title: "Tego formularza nie można tu użyć",
    text: "Strona, z której przychodzisz, nie może używać tego formularza.",
  },
  askConfirm: {
    title: "Potwierdź subskrypcję",
    text: "{project} będzie wtedy wysyłać newslettery na adres {email}.",
  },
  confirm: "Potwierdź",
  confirmed: {
    title: "Subskrypcja potwierdzona",
    text: "Dziękujemy. {project} będzie wysyłać newslettery na adres {email}.",
  },
  alreadyConfirmed: {
    title: "Subskrypcja jest już potwierdzona",
    text: "Potwierdzenie nastąpiło wcześniej. Nie trzeba robić nic więcej.",
  },
  expired: {
    title: "Ten link jest już nieważny",
    text: "Linki potwierdzające są ważne przez siedem dni. Wypełnij formularz ponownie, aby otrzymać nowy.",
  },
  mail: {
    subject: "Potwierdź subskrypcję: {project}",
    text: "Ktoś, mamy nadzieję, że Ty, poprosił o wysyłanie na ten adres newsletterów nadawcy {project}. Prosimy o potwierdzenie:",
    button: "Potwierdź subskrypcję",
    ignore:
      "Jeśli to nie Ty, zignoruj tę wiadomość: nic nie zostanie wysłane. Link jest ważny przez siedem dni.",
  },
};

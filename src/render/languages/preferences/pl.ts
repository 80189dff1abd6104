/** Texts of the preference page in Polish. */

import type { PreferenceTexts } from "../../preference-texts.ts";

export const preferencesPl: PreferenceTexts = {
  title: "Twoje ustawienia",
  choose: "Wybierz, co chcesz otrzymywać, lub zrób przerwę",
  saved: "Zmiany zostały zapisane.",
  nothingChanged: "Nie było nic do zmiany.",
  topics: "Co chcesz otrzymywać?",
  noTopics:
    "Nie wybrano żadnego tematu. Nadal możesz dostawać newslettery, które nie należą do żadnego tematu. Jeśli nie chcesz żadnych, wypisz się ze wszystkiego.",
  pause: "Zrób przerwę",
  pauseHint: "Subskrypcja pozostaje aktywna, a newslettery nie przychodzą do końca przerwy.",
  noPause: "Bez przerwy",
  pauseMonth: "Na jeden miesiąc",
  pauseQuarter: "Na trzy miesiące",
  pauseUntil: "Do wybranego dnia",
  pauseDay: "Dzień, od którego newslettery znów przychodzą",
  pauseDayFault: "Wybierz dzień od jutra do dnia za rok.",
  paused: "Nie otrzymujesz newsletterów do {date}.",
  language: "Język",
  languageHint: "Język tej strony. {project} może używać go także w wiadomościach.",
  tracking: "Pomiar",
  trackingLabel: "{project} może mierzyć, czy otwieram wiadomości i które linki klikam",
  trackingHint: "Jeśli pole nie jest zaznaczone, nic z tego nie jest zapisywane.",
  save: "Zapisz",
  unsubscribeAll: "Wypisz się ze wszystkiego",
  address: "Twój adres",
  addressHint:
    "Najpierw wysyłamy wiadomość na obecny adres, a potem na nowy. Adres zmieni się, gdy potwierdzisz oba.",
  newAddress: "Nowy adres e-mail",
  newAddressFault: "Podaj pełny adres e-mail, na przykład imie@example.com.",
  changeAddress: "Zmień adres",
  data: "Twoje dane",
  dataHint: "Dla bezpieczeństwa najpierw wysyłamy link na adres {email}.",
  sendData: "Poproś o kopię moich danych",
  deleteData: "Usuń moje dane",
  mailSent:
    "Wysłaliśmy wiadomość na adres {email}. Link działa przez 24 godziny. Jeśli wiadomość nie dotrze, zajrzyj do folderu ze spamem i spróbuj ponownie za godzinę.",
  unavailable:
    "Na tej stronie nie jest to obecnie możliwe. Odpowiedz na wiadomość od nadawcy {project}.",
  askExport: {
    title: "Czy chcesz pobrać swoje dane?",
    text: "Plik zawiera dane, które {project} przechowuje na Twój temat.",
  },
  download: "Pobierz",
  view: "Wyświetl w przeglądarce",
  askErasure: {
    title: "Czy chcesz usunąć swoje dane?",
    text: "{project} usunie dane, które przechowuje na Twój temat: adres, ustawienia i wysłane do Ciebie wiadomości. Tego nie można cofnąć.",
  },
  erase: "Usuń moje dane",
  erased: {
    title: "Twoje dane zostały usunięte",
    text: "{project} nie przechowuje już danych na Twój temat. Potwierdzenie z dnia {date} ma numer {receipt}.",
  },
  askAddress: {
    title: "Czy chcesz zmienić adres?",
    text: "{project} będzie wtedy pisać na adres {email}. Najpierw wysyłamy tam wiadomość, aby można było potwierdzić nowy adres.",
  },
  acceptAddress: "Tak, zmień",
  addressAccepted: {
    title: "Potwierdź teraz nowy adres",
    text: "Wysłaliśmy wiadomość na adres {email}. Adres zmieni się, gdy go tam potwierdzisz. Link działa przez 24 godziny.",
  },
  askNewAddress: {
    title: "Czy używać tego adresu?",
    text: "{project} będzie od teraz pisać na adres {email}.",
  },
  confirmAddress: "Potwierdź adres",
  addressChanged: {
    title: "Twój adres został zmieniony",
    text: "{project} pisze teraz na adres {email}.",
  },
  linkOver: {
    title: "Ten link wygasł",
    text: "Został już użyty albo ma więcej niż 24 godziny. Aby zacząć od nowa, otwórz ustawienia linkiem z wiadomości.",
  },
  exportMail: {
    subject: "Twoje dane: {project}",
    text: "Otrzymaliśmy prośbę o kopię danych, które {project} przechowuje na Twój temat. Możesz ją pobrać w ciągu 24 godzin.",
    button: "Pobierz moje dane",
  },
  erasureMail: {
    subject: "Czy usunąć Twoje dane? {project}",
    text: "Otrzymaliśmy prośbę o usunięcie danych, które {project} przechowuje na Twój temat. Potwierdź ją w ciągu 24 godzin. Tego nie można cofnąć.",
    button: "Dalej",
  },
  addressMail: {
    subject: "Czy zmienić Twój adres? {project}",
    text: "Otrzymaliśmy prośbę o zmianę adresu: {project} będzie pisać na adres {email} zamiast na ten. Potwierdź ją w ciągu 24 godzin.",
    button: "Dalej",
  },
  newAddressMail: {
    subject: "Potwierdź swój adres: {project}",
    text: "Ten adres podano jako nowy adres dla wiadomości, które wysyła {project}. Potwierdź go w ciągu 24 godzin.",
    button: "Dalej",
  },
  addressNotice: {
    subject: "Twój adres został zmieniony: {project}",
    text: "{project} pisze teraz na adres {email} zamiast na ten adres. Jeśli tak nie miało być, odpowiedz na tę wiadomość.",
  },
  mailNote: "Jeśli to nie Twoja prośba, zignoruj tę wiadomość. Nic się nie zmieni.",
};

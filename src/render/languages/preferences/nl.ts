/** Texts of the preference page in Dutch. */

import type { PreferenceTexts } from "../../preference-texts.ts";

export const preferencesNl: PreferenceTexts = {
  title: "Uw voorkeuren",
  choose: "Kiezen wat u ontvangt, of een pauze nemen",
  saved: "Uw wijzigingen zijn opgeslagen.",
  nothingChanged: "Er was niets te wijzigen.",
  topics: "Wat wilt u ontvangen?",
  noTopics:
    "U hebt geen onderwerp gekozen. Nieuwsbrieven die bij geen onderwerp horen, kunt u nog steeds ontvangen. Wilt u er geen enkele meer, schrijf u dan overal voor uit.",
  pause: "Een pauze nemen",
  pauseHint: "U blijft ingeschreven en ontvangt geen nieuwsbrieven tot de pauze voorbij is.",
  noPause: "Geen pauze",
  pauseMonth: "Eén maand",
  pauseQuarter: "Drie maanden",
  pauseUntil: "Tot een dag naar keuze",
  pauseDay: "Dag waarop de nieuwsbrieven weer beginnen",
  pauseDayFault: "Kies een dag tussen morgen en over een jaar.",
  paused: "U ontvangt tot {date} geen nieuwsbrieven.",
  language: "Taal",
  languageHint: "De taal van deze pagina. {project} kan die ook voor e-mails gebruiken.",
  tracking: "Meting",
  trackingLabel: "{project} mag meten of ik e-mails open en welke links ik volg",
  trackingHint: "Zonder vinkje wordt hiervan niets vastgelegd.",
  save: "Opslaan",
  unsubscribeAll: "Overal voor uitschrijven",
  address: "Uw adres",
  addressHint:
    "We sturen eerst een e-mail naar uw huidige adres en daarna een naar het nieuwe. Het adres wordt gewijzigd zodra u beide hebt bevestigd.",
  newAddress: "Nieuw e-mailadres",
  newAddressFault: "Vul een volledig e-mailadres in, bijvoorbeeld naam@example.com.",
  changeAddress: "Adres wijzigen",
  data: "Uw gegevens",
  dataHint: "Voor uw bescherming sturen we eerst een link naar {email}.",
  sendData: "Kopie van mijn gegevens aanvragen",
  deleteData: "Mijn gegevens verwijderen",
  mailSent:
    "We hebben een e-mail gestuurd naar {email}. De link daarin werkt 24 uur. Komt de e-mail niet aan, kijk dan in de spammap en probeer het over een uur opnieuw.",
  unavailable:
    "Dat is op deze pagina op dit moment niet mogelijk. Beantwoord een e-mail van {project}.",
  askExport: {
    title: "Uw gegevens downloaden?",
    text: "Het bestand bevat de gegevens die {project} over u heeft opgeslagen.",
  },
  download: "Downloaden",
  view: "In de browser bekijken",
  askErasure: {
    title: "Uw gegevens verwijderen?",
    text: "{project} verwijdert dan de gegevens die over u zijn opgeslagen: uw adres, uw keuzes en de e-mails aan u. Dit kan niet ongedaan worden gemaakt.",
  },
  erase: "Mijn gegevens verwijderen",
  erased: {
    title: "Uw gegevens zijn verwijderd",
    text: "{project} heeft de gegevens verwijderd die over u waren opgeslagen. Het bewijs van {date} heeft nummer {receipt}.",
  },
  askAddress: {
    title: "Uw adres wijzigen?",
    text: "{project} schrijft dan naar {email}. We sturen daar eerst een e-mail heen, zodat het nieuwe adres kan worden bevestigd.",
  },
  acceptAddress: "Ja, wijzigen",
  addressAccepted: {
    title: "Bevestig nu het nieuwe adres",
    text: "We hebben een e-mail gestuurd naar {email}. Het adres wordt gewijzigd zodra u het daar hebt bevestigd. De link werkt 24 uur.",
  },
  askNewAddress: {
    title: "Dit adres gebruiken?",
    text: "{project} schrijft voortaan naar {email}.",
  },
  confirmAddress: "Adres bevestigen",
  addressChanged: {
    title: "Uw adres is gewijzigd",
    text: "{project} schrijft nu naar {email}.",
  },
  linkOver: {
    title: "Deze link is verlopen",
    text: "De link is al gebruikt of is ouder dan 24 uur. Open uw voorkeuren via de link in een e-mail om opnieuw te beginnen.",
  },
  exportMail: {
    subject: "Uw gegevens bij {project}",
    text: "U hebt een kopie aangevraagd van de gegevens die {project} over u heeft opgeslagen. U kunt die binnen 24 uur downloaden.",
    button: "Mijn gegevens downloaden",
  },
  erasureMail: {
    subject: "Uw gegevens bij {project} verwijderen?",
    text: "U hebt {project} gevraagd de gegevens te verwijderen die over u zijn opgeslagen. Bevestig dit binnen 24 uur. Het kan niet ongedaan worden gemaakt.",
    button: "Verder",
  },
  addressMail: {
    subject: "Uw adres bij {project} wijzigen?",
    text: "U hebt {project} gevraagd naar {email} te schrijven in plaats van naar dit adres. Bevestig dit binnen 24 uur.",
    button: "Verder",
  },
  newAddressMail: {
    subject: "Bevestig uw adres bij {project}",
    text: "U hebt {project} gevraagd voortaan naar dit adres te schrijven. Bevestig dit binnen 24 uur.",
    button: "Verder",
  },
  addressNotice: {
    subject: "Uw adres bij {project} is gewijzigd",
    text: "{project} schrijft nu naar {email} in plaats van naar dit adres. Wilde u dat niet, beantwoord dan deze e-mail.",
  },
  mailNote: "Hebt u dit niet aangevraagd, dan hoeft u niets te doen. Er verandert dan niets.",
};

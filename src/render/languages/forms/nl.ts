/** Texts of sign-up forms in Dutch. */

import type { FormTexts } from "../../form-texts.ts";

export const nlForm: FormTexts = {
  email: "E-mailadres",
  optional: "optioneel",
  choose: "Maak een keuze",
  topics: "Wat wilt u ontvangen?",
  trap: "Laat dit veld leeg",
  summary: "Controleer de gemarkeerde velden.",
  errors: {
    required: "Vul dit veld in.",
    email: "Vul een e-mailadres in, zoals ada@example.com.",
    tooLong: "Vul hoogstens {max} tekens in.",
    number: "Vul een getal in.",
    date: "Vul een datum in.",
    choice: "Kies een van de mogelijkheden.",
    checkbox: "Vink dit vakje aan.",
    consent: "Geef uw toestemming.",
  },
  checkInbox: {
    title: "Kijk in uw inbox",
    text: "We hebben u een e-mail met een link gestuurd. Uw inschrijving begint wanneer u de link opent en bevestigt.",
  },
  thanks: {
    title: "Bedankt voor uw inschrijving",
    text: "Als we een bevestiging van u nodig hebben, vindt u een e-mail met een link in uw inbox.",
  },
  closed: {
    title: "Dit formulier is gesloten",
    text: "Inschrijven is hier op dit moment niet mogelijk.",
  },
  tooMany: { title: "Te veel verzoeken", text: "Probeer het over een uur opnieuw." },
  foreign: {
    title: "Dit formulier werkt hier niet",
    text: "De website waar u vandaan komt, mag dit formulier niet gebruiken.",
  },
  askConfirm: {
    title: "Bevestig uw inschrijving",
    text: "{project} stuurt dan nieuwsbrieven naar {email}.",
  },
  confirm: "Bevestigen",
  confirmed: {
    title: "U bent ingeschreven",
    text: "Bedankt. {project} stuurt nieuwsbrieven naar {email}.",
  },
  alreadyConfirmed: {
    title: "U hebt al bevestigd",
    text: "Uw inschrijving was al bevestigd. U hoeft niets meer te doen.",
  },
  expired: {
    title: "Deze link is niet meer geldig",
    text: "Links in bevestigingsmails zijn zeven dagen geldig. Vul het formulier opnieuw in om een nieuwe te krijgen.",
  },
  mail: {
    subject: "Bevestig uw inschrijving bij {project}",
    text: "Iemand, hopelijk u, heeft {project} gevraagd om nieuwsbrieven naar dit adres te sturen. Bevestig dit alstublieft:",
    button: "Inschrijving bevestigen",
    ignore:
      "Was u dit niet, negeer deze e-mail dan: er wordt niets verstuurd. De link is zeven dagen geldig.",
  },
};

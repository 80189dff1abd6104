/** Texts in Dutch. */

import type { Texts } from "../language.ts";

export const nl: Texts = {
  language: "nl",
  unsubscribe: "Uitschrijven",
  subscribe: "Inschrijven",
  newAddress: "uw nieuwe adres",
  askUnsubscribe: {
    title: "Uitschrijven?",
    text: "{project} stuurt dan geen nieuwsbrieven meer naar {email}.",
  },
  askSubscribe: { title: "Inschrijven?", text: "{project} stuurt dan nieuwsbrieven naar {email}." },
  unsubscribed: {
    title: "U bent uitgeschreven",
    text: "{project} stuurt geen nieuwsbrieven naar {email}.",
  },
  subscribed: {
    title: "U bent ingeschreven",
    text: "{project} stuurt nieuwsbrieven naar {email}.",
  },
  manage: "Uw inschrijving",
  note: "Berichten over uw bestellingen of uw account kunt u nog steeds ontvangen.",
  contactDeleted: {
    title: "Deze link is niet meer geldig",
    text: "Deze e-mail is verstuurd naar een adres dat inmiddels is verwijderd. Als u nog nieuwsbrieven ontvangt, gebruik dan de link in de nieuwste.",
  },
  invalidLink: {
    title: "Deze link werkt niet",
    text: "Misschien is de link niet volledig. Open hem opnieuw vanuit de e-mail of kopieer hem in zijn geheel.",
  },
  serverError: {
    title: "Dat is niet gelukt",
    text: "Er ging iets mis aan onze kant. Probeer het over een paar minuten opnieuw.",
  },
  footer: "U ontvangt deze e-mail omdat u zich hebt ingeschreven voor nieuwsbrieven van {project}.",
};

/** Texts of sign-up forms in Spanish. */

import type { FormTexts } from "../../form-texts.ts";

export const esForm: FormTexts = {
  email: "Correo electrónico",
  optional: "opcional",
  choose: "Elija una opción",
  topics: "¿Qué desea recibir?",
  trap: "Deje este campo vacío",
  summary: "Revise los campos marcados.",
  errors: {
    required: "Rellene este campo.",
    email: "Escriba un correo electrónico como ada@example.com.",
    tooLong: "Escriba como máximo {max} caracteres.",
    number: "Escriba un número.",
    date: "Escriba una fecha.",
    choice: "Elija una de las opciones.",
    checkbox: "Marque esta casilla.",
    consent: "Dé su consentimiento.",
  },
  checkInbox: {
    title: "Revise su bandeja de entrada",
    text: "Le hemos enviado un correo con un enlace. Su suscripción comienza cuando abra el enlace y la confirme.",
  },
  thanks: {
    title: "Gracias por suscribirse",
    text: "Si necesitamos su confirmación, encontrará un correo con un enlace en su bandeja de entrada.",
  },
  closed: {
    title: "Este formulario está cerrado",
    text: "Por el momento no es posible suscribirse aquí.",
  },
  tooMany: { title: "Demasiadas solicitudes", text: "Inténtelo de nuevo dentro de una hora." },
  foreign: {
    title: "Este formulario no se puede usar aquí",
    text: "El sitio web del que viene no puede usar este formulario.",
  },
  askConfirm: {
    title: "Confirme su suscripción",
    text: "{project} enviará entonces sus boletines a {email}.",
  },
  confirm: "Confirmar",
  confirmed: {
    title: "Su suscripción está confirmada",
    text: "Gracias. {project} enviará sus boletines a {email}.",
  },
  alreadyConfirmed: {
    title: "Ya había confirmado",
    text: "Su suscripción ya estaba confirmada. No tiene que hacer nada más.",
  },
  expired: {
    title: "Este enlace ya no es válido",
    text: "Los enlaces de confirmación son válidos durante siete días. Rellene de nuevo el formulario para recibir uno nuevo.",
  },
  mail: {
    subject: "Confirme su suscripción a {project}",
    text: "Alguien, esperamos que usted, ha pedido a {project} que envíe sus boletines a esta dirección. Confírmelo, por favor:",
    button: "Confirmar la suscripción",
    ignore:
      "Si no ha sido usted, ignore este correo: no se enviará nada. El enlace es válido durante siete días.",
  },
};

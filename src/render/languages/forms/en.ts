/** Texts of sign-up forms in English. */

import type { FormTexts } from "../../form-texts.ts";

export const enForm: FormTexts = {
  email: "Email address",
  optional: "optional",
  choose: "Please choose",
  topics: "What would you like to receive?",
  trap: "Leave this field empty",
  summary: "Please check the marked fields.",
  errors: {
    required: "Please fill in this field.",
    email: "Please enter an email address such as ada@example.com.",
    tooLong: "Please enter at most {max} characters.",
    number: "Please enter a number.",
    date: "Please enter a date.",
    choice: "Please choose one of the entries.",
    checkbox: "Please tick this box.",
    consent: "Please give your consent.",
  },
  checkInbox: {
    title: "Please check your inbox",
    text: "We have sent you an email with a link. Your subscription starts when you open the link and confirm it.",
  },
  thanks: {
    title: "Thank you for signing up",
    text: "If we need a confirmation from you, you will find an email with a link in your inbox.",
  },
  closed: {
    title: "This form is closed",
    text: "New subscriptions are not possible here at the moment.",
  },
  tooMany: {
    title: "Too many requests",
    text: "Please try again in an hour.",
  },
  foreign: {
    title: "This form cannot be used here",
    text: "The website from which you came may not use this form.",
  },
  askConfirm: {
    title: "Confirm your subscription",
    text: "{project} will then send newsletters to {email}.",
  },
  confirm: "Confirm",
  confirmed: {
    title: "You are subscribed",
    text: "Thank you. {project} will send newsletters to {email}.",
  },
  alreadyConfirmed: {
    title: "You are already confirmed",
    text: "Your subscription was confirmed before. There is nothing left to do.",
  },
  expired: {
    title: "This link is no longer valid",
    text: "Links of confirmation emails are valid for seven days. Please fill in the form again to get a new one.",
  },
  mail: {
    subject: "Please confirm your subscription to {project}",
    text: "Somebody, hopefully you, asked {project} to send newsletters to this address. Please confirm it:",
    button: "Confirm the subscription",
    ignore:
      "If it was not you, ignore this email: nothing will be sent. The link is valid for seven days.",
  },
};

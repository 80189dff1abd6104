/** Texts of the preference page in English. */

import type { PreferenceTexts } from "../../preference-texts.ts";

export const preferencesEn: PreferenceTexts = {
  title: "Your preferences",
  choose: "Choose what you receive, or pause all of it",
  saved: "Your changes have been saved.",
  nothingChanged: "Nothing had to be changed.",
  topics: "What would you like to receive?",
  noTopics:
    "You have not chosen a topic. Newsletters that belong to no topic can still reach you. To stop all of them, unsubscribe from everything.",
  pause: "Pause newsletters",
  pauseHint: "You stay subscribed, and get no newsletters until the pause is over.",
  noPause: "No pause",
  pauseMonth: "For one month",
  pauseQuarter: "For three months",
  pauseUntil: "Until a day of your choice",
  pauseDay: "Day on which newsletters start again",
  pauseDayFault: "Choose a day from tomorrow until one year from now.",
  paused: "You get no newsletters until {date}.",
  language: "Language",
  languageHint: "The language of this page. {project} may also use it for its emails.",
  tracking: "Measurement",
  trackingLabel: "{project} may measure whether I open its emails and which links I follow",
  trackingHint: "If the box is not ticked, none of this is recorded.",
  save: "Save",
  unsubscribeAll: "Unsubscribe from everything",
  address: "Your address",
  addressHint:
    "We first send an email to your current address and then one to the new address. The address is changed once you have confirmed both.",
  newAddress: "New email address",
  newAddressFault: "Enter a complete email address, such as name@example.com.",
  changeAddress: "Change address",
  data: "Your data",
  dataHint: "For your protection, we first send a link to {email}.",
  sendData: "Request a copy of my data",
  deleteData: "Delete my data",
  mailSent:
    "We have sent an email to {email}. Its link works for 24 hours. If it does not arrive, look in your spam folder, and try again in an hour.",
  unavailable:
    "This is not possible on this page at the moment. Please reply to an email from {project}.",
  askExport: {
    title: "Download your data?",
    text: "The file contains the data that {project} has stored about you.",
  },
  download: "Download",
  view: "View in the browser",
  askErasure: {
    title: "Delete your data?",
    text: "{project} will delete the data that it has stored about you: your address, your choices and the emails to you. This cannot be undone.",
  },
  erase: "Delete my data",
  erased: {
    title: "Your data has been deleted",
    text: "{project} has deleted the data that it had stored about you. The receipt of {date} has the number {receipt}.",
  },
  askAddress: {
    title: "Change your address?",
    text: "{project} would then write to {email}. We first send an email there, so that the new address can be confirmed.",
  },
  acceptAddress: "Yes, change it",
  addressAccepted: {
    title: "Now confirm your new address",
    text: "We have sent an email to {email}. The address is changed once you have confirmed it there. The link works for 24 hours.",
  },
  askNewAddress: {
    title: "Use this address?",
    text: "{project} will write to {email} from now on.",
  },
  confirmAddress: "Confirm address",
  addressChanged: {
    title: "Your address has been changed",
    text: "{project} now writes to {email}.",
  },
  linkOver: {
    title: "This link has expired",
    text: "It has been used already, or it is older than 24 hours. To start again, open your preferences by the link in an email.",
  },
  exportMail: {
    subject: "Your data at {project}",
    text: "You have asked for a copy of the data that {project} has stored about you. You can download it within 24 hours.",
    button: "Download my data",
  },
  erasureMail: {
    subject: "Delete your data at {project}?",
    text: "You have asked {project} to delete the data that it has stored about you. Please confirm this within 24 hours. It cannot be undone.",
    button: "Continue",
  },
  addressMail: {
    subject: "Change your address at {project}?",
    text: "You have asked {project} to write to {email} instead of this address. Please confirm this within 24 hours.",
    button: "Continue",
  },
  newAddressMail: {
    subject: "Confirm your address at {project}",
    text: "You have asked {project} to write to this address from now on. Please confirm this within 24 hours.",
    button: "Continue",
  },
  addressNotice: {
    subject: "Your address at {project} has been changed",
    text: "{project} now writes to {email} instead of this address. If you did not want this, please reply to this email.",
  },
  mailNote: "If you did not ask for this, you can ignore this email. Nothing will be changed.",
};

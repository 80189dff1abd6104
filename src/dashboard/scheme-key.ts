/** The name in the browser's local storage of the chosen colour scheme: light, dark or auto. */
export const SCHEME_KEY = "mailstead-color-scheme";

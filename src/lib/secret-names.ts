/**
 * Tells names of secrets, such as `loginCode` or `Passwort`, from other names, such as `postcode`.
 *
 * 1. A name is read as its words: `loginCode`, `login_code` and `LOGIN-CODE` are `login` and `code`.
 * 2. A few stems make a name secret wherever they stand in it (`STEMS`).
 * 3. A word makes it secret if it is in `WORDS`, or is made of such a word and one of `PARTS`, as
 *    `loginpin` is.
 * 4. A code is secret, unless a word of the name says that it is none that a person is sent
 *    (`ORDINARY_CODES`), as in `country_code`.
 *
 * The lists have the words of several languages. A name with a word of `ABOUT` at its end tells
 * something about the secret only.
 */

/** Longest name that is read; a longer one is secret. */
const LONGEST_NAME = 500;

/** Without marks and invisible characters, and with letters of the common form. */
function foldName(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/[\p{M}\p{Cf}]/gu, "")
    .normalize("NFC")
    .replaceAll("ł", "l")
    .replaceAll("Ł", "L")
    .replaceAll("ø", "o")
    .replaceAll("Ø", "O")
    .replaceAll("ı", "i");
}

/** The words of a name, in lower case. */
export function wordsOfName(name: string): string[] {
  return (
    foldName(name)
      .replace(/([\p{Ll}\d])(?=\p{Lu})/gu, "$1 ")
      .replace(/(\p{Lu})(?=\p{Lu}\p{Ll})/gu, "$1 ")
      .toLowerCase()
      .match(/\p{L}+|\d+/gu) ?? []
  );
}

const listed = (...lines: readonly string[]): string[] =>
  lines.flatMap((line) => foldName(line).toLowerCase().split(" "));
const setOf = (...lines: readonly string[]): ReadonlySet<string> => new Set(listed(...lines));

/** Parts of words that mean a secret wherever they stand. */
const STEMS = listed(
  "password passwd passcode passphrase passkey token secret credential credencia credenzial",
  "apikey accesskey privatekey secretkey signingkey encryptionkey licensekey licencekey sshkey",
  "authoriz authoris authentic sessid sessionid",
  "passwort kennwort losungswort zugangsdaten sicherheitsfrage geheim wachtwoord motdepasse",
  "contraseña contrasenya contrasenia senha hasło heslo jelszo lösenord passord adgangskode kodeord salasana",
  "lozinka slaptazodis katasandi matkhau şifre wachtzin credentiel",
  "парол секрет токен таємн подтвержд підтвердж приглаш авториз κωδικ συνθηματικ лозинк пинкод",
  "密码 密碼 口令 验证 驗證 認証 令牌 密钥 密鑰 秘钥 秘密 暗証 パスワード トークン 合言葉",
  "비밀 암호 인증 토큰 סיסמ पासवर्ड รหัส",
);

/** The same, across the words of a name. */
const PHRASES = listed(
  "apikey accesskey motdepasse onetime twofactor multifactor magiclink seedphrase katasandi",
  "securityanswer securityquestion creditcard cardnumber giftcard matkhau autologin clicklogin twofa كلمةالمرور كلمةالسر",
);

/** Words that mean a secret. */
const WORDS = setOf(
  "secret secrets auth authn authz oauth bearer jwt jws jwe otp otps totp hotp tan tans mtan itan",
  "pin pins puk mfa tfa pass pw pwd psw pswd cred creds key keys cookie cookies session sessions",
  "sessionid sid csrf xsrf nonce salt hash hmac signature signatures sig saml assertion mnemonic",
  "verification verify verifier activation activate confirm confirmation invite invites invitation",
  "invitations magic recovery recover reset unlock captcha voucher vouchers coupon coupons promo",
  "cvv cvc ssn sso verif challenge",
  "schlüssel schluessel bestätigung bestaetigung aktivierung einladung gutschein verifizierung",
  "mdp clé cle jeton invitation confirmation parole clave claves secreto verificación activación",
  "invitación sesión chave segredo verificação ativação convite sessão parola segreto chiave",
  "verifica attivazione invito sessione sleutel uitnodiging verificatie activatie bevestiging",
  "klucz sekret zaproszenie weryfikacja aktywacja nyckel hemlighet inbjudan nøgle hemmelig avain",
  "klíč kulcs titok cheie anahtar davet sandi kunci rahasia šifra пин сессия ключ ключи parool geslo",
);

/** Words for a code, also at the end of a word, as in `Zugangscode`. */
const CODES = listed(
  "code codes kod kody kode koder koodi código códigos codice codici cod kods kodas код коды коду كود رمز",
  "代码 代碼 コード 코드 码 碼",
);

/** Words beside those of `WORDS` in compounds, such as `loginpin` and `pinnumber`. */
const PARTS = setOf(
  "login logon signin signup sign log in up sms mail email e user account card client customer",
  "admin access app api web my new old temp tmp one time security sec bank atm sim phone device",
  "door gate entry backup id value hash text number num no nr data link url uri code string field",
  "current last next private public ssh db smtp imap ftp wifi wlan",
);

/** A field with one of these words may hold a link that signs a user in. */
const LINKS = setOf("link links url urls uri href");
const SIGN_IN = setOf("login logon signin sign access auto onboarding anmelde anmeldung connexion");

/** Words that tell which code it is, if it is none that a person is sent to prove something. */
const ORDINARY_CODES = setOf(
  "post postal postale postales pocztowy posta poste zip plz country countries land pais país pays",
  "paese kraj area language languages lang locale sprache langue idioma lingua error errors fehler",
  "erreur err status http response exit return reason result product products produkt produit",
  "producto prodotto item article artikel sku color colour farbe size currency währung devise",
  "moneda valuta region regions state province county city district dial dialing dialling calling",
  "prefix tel airport iata icao iso bar tariff tax vat fiscal fiscale steuer cost department dept",
  "branch store shop location loc site warehouse industry sic naics nace occupation job campaign",
  "source channel plan tier package category categories segment timezone zone tz weather",
  "diagnosis icd uni geo char encoding model part swift bic bounce smtp enhanced diagnostic dsn",
  "cancellation gender unit carrier hex html css nationality citizenship dress morse op",
  "почтовый страны языка ошибки 邮政 郵便 国家 条 条形 우편 بريدي البريدي الدولة",
);

/** Words by which a code is secret although another word is in `ORDINARY_CODES`. */
const ACCESS = setOf(
  "login logon signin sms access security backup door gate entry discount rabatt referral",
);

/** Last words of names that tell something about a secret, such as `tokenType` and `resetCount`. */
const ABOUT = setOf(
  "count counts total type kind status enabled required policy provider method length expiry",
  "title account",
);

/** Last words of names of times, such as `tokenExpiresAt`. */
const TIMES = setOf("at on date time until expires expiry expiration since");
/** Last words of names of identifiers, which may look random. */
const IDENTIFIERS = setOf("id ids uuid guid ref reference number nr no");

/** Whether a field with this name holds a secret. `parent` is the name of the object that has it. */
export function isSecretName(name: string, parent = ""): boolean {
  if (name.length > LONGEST_NAME) return true;
  const words = wordsOfName(name);
  const last = words.at(-1) ?? "";
  if (words.length > 1 && ABOUT.has(last)) return false;
  return hasSecretWord(words) || isSecretCode(words, wordsOfName(parent.slice(0, LONGEST_NAME)));
}

/** Whether the name is one of a time, such as `passwordChangedAt`. */
export function isNameOfTime(name: string): boolean {
  return TIMES.has(wordsOfName(name.slice(-LONGEST_NAME)).at(-1) ?? "");
}

/** Whether the name is one of an identifier, such as `customerId`. */
export function isNameOfIdentifier(name: string): boolean {
  return IDENTIFIERS.has(wordsOfName(name.slice(-LONGEST_NAME)).at(-1) ?? "");
}

/** Whether words mean a secret, apart from codes. */
export function hasSecretWord(words: readonly string[]): boolean {
  // A secretary is none.
  const read = words.map((word) => word.replace(/secretar/g, ""));
  if (read.some((word) => STEMS.some((stem) => word.includes(stem)))) return true;
  const joined = words.join("");
  if (PHRASES.some((phrase) => joined.includes(phrase))) return true;
  if (words.some((word, at) => word === "2" && /^fa(?:$|code|key|pin)/.test(words[at + 1] ?? "")))
    return true;
  if (words.some((word) => WORDS.has(word) || isCompound(word))) return true;
  return words.some((word) => LINKS.has(word)) && words.some((word) => SIGN_IN.has(word));
}

/** Whether a word is one of `WORDS` with one of `PARTS` before or after it. */
function isCompound(word: string): boolean {
  if (word.length > 30) return false;
  for (let at = 1; at < word.length; at++) {
    const [start, end] = [word.slice(0, at), word.slice(at)];
    if (WORDS.has(end) && (PARTS.has(start) || WORDS.has(start))) return true;
    if (WORDS.has(start) && PARTS.has(end)) return true;
  }
  return false;
}

function isSecretCode(words: readonly string[], parents: readonly string[]): boolean {
  const codes = words.filter((word) => startOfCode(word) !== null);
  if (codes.length === 0) return false;
  const starts = codes.map((word) => startOfCode(word) ?? "");
  const all = [...words, ...starts, ...parents];
  if (all.some((word) => ACCESS.has(word))) return true;
  return ![...all, ...starts.flatMap(endsOf)].some((word) => ORDINARY_CODES.has(word));
}

/** The word before a word for a code, as `post` in `postcode`; null if it is no code. */
function startOfCode(word: string): string | null {
  const code = CODES.find(
    (each) => word === each || ((each.length > 3 || !/[a-zк]/.test(each)) && word.endsWith(each)),
  );
  const start = code === undefined ? null : word.slice(0, word.length - code.length);
  return start !== null && /^(?:en|de|trans|re|source)$/.test(start) ? null : start;
}

/** The ends of a compound, as `country` of `billingcountry`. */
function endsOf(word: string): string[] {
  return Array.from({ length: Math.min(word.length, 30) }, (_, at) => word.slice(-at - 1)).filter(
    (end) => end.length > 2,
  );
}

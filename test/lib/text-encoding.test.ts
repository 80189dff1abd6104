import { describe, expect, test } from "bun:test";
import { createDecoder, encodingNamed, guessEncoding } from "../../src/lib/text-encoding.ts";

const latin1 = (text: string) => Buffer.from(text, "latin1");
const utf8 = (text: string) => Buffer.from(text, "utf8");
const utf16 = (text: string) => Buffer.from(`\u{feff}${text}`, "utf16le");
const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");

/** The text in an encoding of one byte for each character. */
function encode(text: string, encoding: string): Buffer {
  const decoder = createDecoder(encoding);
  const bytes = Array.from(
    { length: 256 },
    (_, i) => [decoder.decode(Buffer.from([i])), i] as const,
  );
  const byteOf = new Map(bytes);
  return Buffer.from(
    Array.from(text).map((letter) => {
      const byte = byteOf.get(letter);
      if (byte === undefined) throw new Error(`${encoding} has no ${letter}`);
      return byte;
    }),
  );
}

function guess(bytes: Buffer, size = bytes.length) {
  const guesser = guessEncoding();
  for (let at = 0; at < bytes.length; at += size) guesser.see(bytes.subarray(at, at + size));
  return guesser.result();
}

const cases: [name: string, bytes: Buffer, encoding: string][] = [
  ["nothing", Buffer.alloc(0), "utf-8"],
  ["ASCII", utf8("email,name\nada@example.com,Ada\n"), "utf-8"],
  ["UTF-8", utf8("name\nZoë\n太郎\n😀\n"), "utf-8"],
  ["UTF-8 with a byte order mark", utf8("\u{feff}name\nAda\n"), "utf-8"],
  ["Latin-1", latin1("name\nZoë Müller\n"), "windows-1252"],
  ["Windows-1252 with curly quotes", Buffer.from([0x93, 0x61, 0x94]), "windows-1252"],
  [
    "much UTF-8 with one broken byte",
    Buffer.concat([utf8("Zoë, Jürgen, Łukasz"), latin1("é")]),
    "utf-8",
  ],
  ["square metres", latin1("5 m\u00b3, caf\u00e9"), "windows-1252"],
  ["UTF-16 without its mark", utf16("name\nAda\n").subarray(2), "utf-16le"],
  ["UTF-16 little-endian", utf16("name\nAda\n"), "utf-16le"],
  ["UTF-16 big-endian", utf16("name\nAda\n").swap16(), "utf-16be"],
  ["ISO-2022-JP", hex("61 1b 24 42 45 44 43 66 1b 28 42 0a"), "iso-2022-jp"],
];

describe("guesses, surely,", () => {
  test.each(cases)("%s", (_, bytes, encoding) => {
    for (const size of [1, 2, 3, 1000]) {
      expect([size, guess(bytes, size)]).toEqual([size, { encoding, doubt: null }]);
    }
  });

  /** Short files, as people have them. */
  const files: [encoding: string, text: string][] = [
    [
      "windows-1251",
      "имя,город\nАнна Иванова,Москва\nПётр Сидоров,Санкт-Петербург\n«Ромашка»,Ёлкин",
    ],
    ["windows-1251", "ім'я,місто\nОлексій Шевченко,Київ\nЇжак Ґалаґан,Львів\n"],
    ["windows-1251", "име,град\nГеорги Димитров,София\nХристо,Пловдив\n"],
    ["koi8-r", "имя,город\nАнна Иванова,Москва\nПетр Сидоров,Санкт-Петербург\n"],
    ["ibm866", "имя,город\nАнна Иванова,Москва\nПетр Сидоров,Санкт-Петербург\n"],
    ["windows-1250", "jméno,město\nJiří Dvořák,Plzeň\nŽaneta Růžičková,Ústí\nMüller,Göteborg\n"],
    ["windows-1250", "imię,miasto\nŁukasz Wiśniewski,Łódź\nMałgorzata Wójcik,Częstochowa\n"],
    ["windows-1250", "név,város\nErdős Gyula,Győr\nSzűcs Ödön,Szőreg\nLőrincz Éva,Tűzkő\n"],
    ["windows-1250", "nume,oraş\nŞtefan Ionuţ,Bucureşti\nAndrei Stănescu,Brăila\n"],
    ["windows-1250", "ime,grad\nĐorđe Kovačić,Šibenik\nNikolić,Čakovec\n"],
    ["windows-1250", "name\nDvořák\n"],
    ["windows-1250", "name\nŘezník\n"],
    ["windows-1250", "name\nMichał Błażej\n"],
    ["iso-8859-2", "imię,miasto\nŁukasz Wiśniewski,Łódź\nŻaneta Dąbrowska,Kraków\n"],
    ["iso-8859-2", "jméno,město\nŠárka Němcová,Kroměříž\nŽaneta Růžičková,Ústí\n"],
    ["windows-1253", "όνομα,πόλη\nΓιώργος Παπαδόπουλος,Αθήνα\nΜαρία Νικολάου,Θεσσαλονίκη\n"],
    [
      "windows-1254",
      "ad,şehir\nAyşe Yılmaz,İstanbul\nÇağlar Öztürk,Eskişehir\nDoğan Şahin,Muğla\n",
    ],
    [
      "windows-1255",
      "שם,עיר\nיוסף אברהם,ירושלים\nמרים פרידמן,תל אביב\nתמר שפירא,נתניה\nאיתן גולדברג,הרצליה\nמשה אזולאי,רמת גן\n",
    ],
    ["windows-1256", "الاسم,المدينة\nمحمد علي,القاهرة\nفاطمة حسن,الرياض\n"],
    ["windows-874", "กรุงเทพ,มานะ"],
    ["windows-874", "ชื่อ,เมือง\nสมชาย ใจดี,กรุงเทพ\nสมหญิง,เชียงใหม่\n"],
  ];
  test.each(files)("%s: %j", (encoding, text) => {
    expect(guess(encode(text, encoding))).toEqual({ encoding, doubt: null });
  });

  test.each([
    ["shift_jis", "93 63 92 86 0a"],
    ["shift_jis", "8e 52 93 63 91 be 98 59 2c 93 8c 8b 9e 93 73 0a"],
    ["shift_jis", "83 84 83 7d 83 5f 2c 82 bd 82 c8 82 a9"],
    [
      "euc-jp",
      "bb b3 c5 c4 c2 c0 cf ba 2c c5 ec b5 fe c5 d4 2c a5 bf a5 ab a4 d2 a4 e9 a4 ac a4 ca",
    ],
    ["gb18030", "cd f5 ce b0 2c b1 b1 be a9 ca d0 0a c1 f5 d1 f3"],
    ["big5", "b3 af a9 c9 a7 67 2c a5 78 a5 5f a5 ab"],
    ["euc-kr", "b1 e8 c3 b6 bc f6 2c bc ad bf ef 0a c0 cc bf b5 c8 f1"],
  ])("%s: %s", (encoding, bytes) => {
    expect(guess(hex(bytes))).toEqual({ encoding, doubt: null });
  });

  test.each(
    `Zoë Müller Hélène Peña São João Simões François Benoît Forêt Città Søren Bjørn Åse Malmö Lærke
     Kjær Loïc Anaïs Août Crèche Molière René Émile Núñez Ibáñez Muñoz Conceição Größe Füßen Straße
     Jørgensen Ångström Lefèvre “Café” d’Été Noël Nicolò Forlì Señor Guimarães Göteborg Þór Chloë Öztürk
     Œuvre sœur 1ère 2ème n°5 20°C l’œil col·legi CO² DÉSIRÉE MÜLLER ÉCOLE ÅRHUS MUÑOZ O’Brién
     Köln/Düsseldorf Äußere Gaëlle Étienne Inês Estêvão Håkon Øyvind Ærø Pärt Väinö Yrjö Hämäläinen
     Jyväskylä Sjöström Íñigo Begoña Università Zürich Genève Neuchâtel Saint-Étienne Nîmes Alès
     Forêt-Noire déjà ça élève préféré Bâle Rhône Isère Seán Siobhán Tír Camões Leitão Weißenburg Käthe`.split(
      /\s+/,
    ),
  )("windows-1252 from the only word %s", (word) => {
    expect(guess(encode(word, "windows-1252"))).toEqual({ encoding: "windows-1252", doubt: null });
  });
});

describe("is in doubt about", () => {
  const unclear: [encoding: string, text: string][] = [
    ["ibm850", "Jürgen Müller,Köln"],
    ["ibm850", "René"],
    ["macintosh", "René,Müller,Hélène"],
    ["windows-1250", "Gyűrű"],
    ["windows-1254", "Erdoğan"],
    ["windows-1251", "Ян"],
    ["windows-1257", "Ąžuolas,Bērziņš"],
    ["windows-1255", "שלום"],
    ["windows-1255", "דוד כהן"],
    ["windows-1255", "שרה לוי,חיפה"],
    ["windows-1255", "גלית דגן,חיים פרץ,תל אביב"],
    ["windows-1251", "Анна"],
    ["windows-1253", "Μαρία"],
    ["windows-874", "ใจดี"],
  ];
  test.each(unclear)("%s: %j", (encoding, text) => {
    const { doubt } = guess(encode(text, encoding));
    expect(doubt).toHaveLength(2);
    expect(doubt?.[0]?.word).not.toBe(doubt?.[1]?.word);
  });

  test("letters that no language has beside each other", () => {
    expect(guess(latin1("éèàü")).doubt).not.toBeNull();
    expect(guess(Buffer.from([0x61, 0xc3])).doubt).not.toBeNull();
    expect(guess(Buffer.from([0xff, 0x80, 0x81])).doubt).not.toBeNull();
  });
});

test("reads the code page of DOS in parts", () => {
  const decoder = createDecoder("ibm850");
  const parts = [hex("4a 81"), hex("72 67 65 6e")].map((part) =>
    decoder.decode(part, { stream: true }),
  );
  expect(parts.join("") + decoder.decode()).toBe("Jürgen");
  expect(["cp850", "IBM-850", "cp852"].map(encodingNamed)).toEqual(["ibm850", "ibm850", null]);
});

/**
 * Whether a text could have been written by people, which tells apart the encodings in which any bytes
 * are valid. A word read in a wrong encoding has signs or capitals inside of it, or letters beside each
 * other that no language has there: `Dvoøák` is no Danish, and `Hélčne` is no Czech.
 */

/** Signs that stand alone, those that open a word or a number, and those that end one. */
const ALONE = /^[–—…•€™®©°§£¥·×÷¢¶µ¼½¾±№&\u00a0]+$/u;
const OPENING = /^[“”‘’„‚«»‹¿¡–—…]+|^[€£¥§±×№](?=\d)/u;
const CLOSING =
  /(?<![”“’‘„‚«»›…–—™®©°€£¥º])[”“’‘„‚«»›…–—™®©°€£¥º]+$|[²³]$(?<=^\d*(?:[cdkm]?m|CO|[A-Z])?[²³])|(?<=\d)[¼½¾µ%ª×]+$/u;
const VOWEL = "aeiouyáéíóúýàèìòùâêîôûäëïöüãõåæøœěůőűăąęı";
const isVowel = (letter: string | undefined): boolean =>
  letter !== undefined && letter !== "" && VOWEL.includes(letter);

const WESTERN = new Set("àâäãåáæçéèêëíìîïñóòôöõøœßúùûüýÿðþšžªº");
const PAIRS =
  /^(?:[çñšžßðþ].|.[ñçšžßð]|éâ|éï|éé|ïé|ää|öö|üü|õõ|äö|öä|åä|äå|æå|óú|üé|éü|öé|éö|áé|éá|íá|áí|íó)$/u;

/** Alphabets beside the letters of ASCII. */
const CENTRAL = [
  "ąćęłńóśźż",
  "áčďéěíňóřšťúůýž",
  "áäčďéíĺľňóôŕšťúýž",
  "áéíóöőúüű",
  "ăâîşţșț",
  "čćđšž",
  "äöüßéçëô",
].map((letters) => new Set(letters));
const TURKISH = new Set("çğıöşüâîûi̇");
export type Script =
  | "western"
  | "central"
  | "turkish"
  | "cyrillic"
  | "greek"
  | "hebrew"
  | "arabic"
  | "thai"
  | "japanese"
  | "chinese"
  | "korean";

/** The words of a text that have a character beyond ASCII. */
export function foreignWords(text: string): string[] {
  return text.split(/[\s!-&(-,./:-@[-`{-~]+/).filter((word) => /[^ -~]/.test(word));
}

/** True if the word could be one of the script. */
export function isPlausible(word: string, script: Script): boolean {
  if (/[\u0080-\u009f\ufffd\ue000-\uf8ff]/.test(word)) return false;
  if (ALONE.test(word)) return true;
  const bare = word.replace(OPENING, "").replace(CLOSING, "");
  if (script === "japanese" || script === "chinese" || script === "korean") {
    const others = bare.replace(/[ -~]/g, "").length;
    return others * 2 >= bare.length && ASIAN[script].test(bare);
  }
  // As in `n°5`, `20°C` and `col·legi`.
  return bare.split(/[-'’‘°]|º(?=\d)|(?<=l)·(?=l)/).every((part) => isWordOf(part, script));
}

/** The central European languages that the word could be of, as indexes. */
export function centralLanguages(word: string): number[] {
  const letters = Array.from(word.toLowerCase()).filter(
    (letter) => /[^ -~]/.test(letter) && /\p{L}/u.test(letter),
  );
  return CENTRAL.flatMap((alphabet, i) =>
    letters.every((letter) => alphabet.has(letter)) ? [i] : [],
  );
}

/** The share of common letters among the letters beyond ASCII; 1 for scripts without a table. */
export function commonShare(words: readonly string[], script: Script): number {
  const table = COMMON[script];
  if (table === undefined) return 1;
  const letters = words.flatMap((word) =>
    Array.from(word.toLowerCase()).filter((letter) => letter > "~"),
  );
  return letters.filter((letter) => table.has(letter)).length / Math.max(1, letters.length);
}

function isWordOf(word: string, script: Script): boolean {
  if (/^[ -~]*$/.test(word)) return true;
  if (!/^[\p{L}\p{M}\d]+$/u.test(word)) return false;
  // A word has no capital after a small letter, unless it is one of ASCII as in McDonald.
  if (/\p{Ll}(?![A-Z])\p{Lu}|\p{L}(?![A-Z])\p{Lu}\p{Ll}/u.test(word)) return false;
  const lower = word.toLowerCase();
  switch (script) {
    case "western":
      return isWestern(lower);
    case "central":
      return isCentral(lower);
    case "turkish":
      return Array.from(lower).every((letter) => /[a-z\d]/.test(letter) || TURKISH.has(letter));
    case "cyrillic":
      return /^[\u0400-\u045f\u0490\u0491\d]+$/u.test(word);
    case "greek":
      return /^[\u0370-\u03ff\d]+$/u.test(word);
    case "hebrew":
      return /^[\u05d0-\u05ea\d]+$/u.test(word);
    case "arabic":
      return /^[\u0621-\u0652\u067e-\u06cc\u200c\u200d\d]+$/u.test(word);
    case "thai":
      return /^[\u0e01-\u0e59\d]+$/u.test(word);
    default:
      return false;
  }
}

/** Tells whether a letter may stand between the letters before and after it. */
type Context = (before: string, after: string, rest: string) => boolean;
const WESTERN_CONTEXTS: Readonly<Record<string, Context>> = {
  ñ: (_, after) => isVowel(after),
  è: (before, after) => !"aeé".includes(before || "-") && !isVowel(after),
  ø: (before, after, rest) =>
    !isVowel(before) &&
    (after === "e" ? before !== "" && /^e(?:$|[nrst]$|b)/.test(rest) : !/[aouáéíóúý]/.test(after)),
  ò: (before, after) =>
    before !== "" && !"áéíóúý".includes(before) && (!isVowel(before) || after === ""),
  ç: (_, after) => after === "" || isVowel(after),
  ê: (before) => !"zwk".includes(before || "-"),
  ž: (before, after) => isVowel(before) || isVowel(after) || "dlďnvh".includes(after || "-"),
  ÿ: (before) => isVowel(before),
  ì: (_, after) => after === "",
  ù: (_, after, rest) => after === "" || rest === "s",
  ï: (before) => isVowel(before) || before === "",
  ã: (_, after) => after === "" || "oesn".includes(after),
  õ: (before, after) =>
    !isVowel(before) && (after === "e" || (after !== "" && after !== "s" && !isVowel(after))),
  æ: (before) => !isVowel(before),
  œ: (before, after) => !isVowel(before) && after !== "" && "uilctsnkd".includes(after),
  ß: (before, after) => before !== "" && !/[^a-zäöü]/.test(after),
  þ: (before) => before === "",
  ª: (_, after) => after === "",
  º: (_, after) => after === "",
};

function isWestern(word: string): boolean {
  for (let i = 0; i < word.length; i++) {
    const letter = word.charAt(i);
    if (letter <= "~") continue;
    if (!WESTERN.has(letter)) return false;
    const [before, after] = [word.charAt(i - 1), word.charAt(i + 1)];
    if (after > "~" && !PAIRS.test(letter + after)) return false;
    const fits = WESTERN_CONTEXTS[letter];
    if (fits !== undefined && !fits(before, after, word.slice(i + 1))) return false;
  }
  return true;
}

const CENTRAL_CONTEXTS: Readonly<Record<string, Context>> = {
  ń: (_, after) => !isVowel(after),
  ś: (before, after) => before !== "s" && !isVowel(after),
  ź: (before, after) => (before === "" || before === "d" || isVowel(before)) && !isVowel(after),
  đ: (_, after) => after === "" || isVowel(after),
  ő: (_, after) => !isVowel(after),
  ž: (before, after) => isVowel(before) || isVowel(after) || "dlďnvh".includes(after || "-"),
  č: (before, after) => (isVowel(before) && after !== "r") || isVowel(after),
  ć: (before, after) => isVowel(before) || isVowel(after),
  ř: (before, after) => (isVowel(before) || isVowel(after)) && after !== "y",
  ů: (before) => !isVowel(before),
  ď: (_, after) => after === "" || after === "k" || isVowel(after),
  ň: (before) => isVowel(before),
  ě: (before) => before !== "" && "dtnbpvfm".includes(before),
  ŕ: (before, after) => before !== "" && after !== "" && !isVowel(before) && !isVowel(after),
  ĺ: (before, after) => before !== "" && after !== "" && !isVowel(before) && !isVowel(after),
  ű: (before, after) => !/[aeiou]/.test(before + after),
  ę: (before, after) => before !== "" && !isVowel(before) && !isVowel(after),
};

function isCentral(word: string): boolean {
  const letters = Array.from(word).filter((letter) => letter > "~");
  if (!CENTRAL.some((alphabet) => letters.every((letter) => alphabet.has(letter)))) return false;
  return Array.from(word).every((letter, i) => {
    const fits = CENTRAL_CONTEXTS[letter];
    return fits === undefined || fits(word.charAt(i - 1), word.charAt(i + 1), word.slice(i + 1));
  });
}

/** The most frequent letters, characters and syllables. */
const COMMON: Partial<Record<Script, ReadonlySet<string>>> = {
  cyrillic: new Set("оеаинтсрвлкміяпд"),
  greek: new Set("αοιεηστνρκςάίόλυπμ"),
  hebrew: new Set("יוהלאמרתבשם"),
  arabic: new Set("الينموهرتبعدح"),
  thai: new Set("านรกเงมยลวดทสคชพ่้ัิี"),
  japanese: new Set(
    "あいうえおかきくけこさしすせそたちつてとなにのはまみめもやゆよらりるれろわをんがぎでじどばだっょ" +
      "アイウエオカキクコサシスセタチツテトナニノハマミムメモヤユヨラリルレロワンガジドバブプデーッョ" +
      "田中山川木村井上藤本佐高橋鈴渡辺伊加小林吉松清水斎森池石原野島前後岡長谷西東南北大太郎子美一二三智恵裕" +
      "介健真由香京都府県市区町丁目阪名古屋横浜神戸福札幌仙台広千葉埼玉奈良",
  ),
  chinese: new Set(
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董程曹袁邓许傅沈曾彭吕苏卢蒋蔡丁魏薛叶余潘杜" +
      "夏田任姜范方石姚谭金陆孔白江史陳張劉楊趙吳孫馬羅鄭謝許蘇葉伟芳娜秀英敏静丽强磊军洋勇艳杰娟涛明超平刚" +
      "华建国文志玉红春梅美偉麗強軍國華雅婷家豪怡君俊北京上海广州深圳天津重庆成都南武汉西安台灣市省区路县" +
      "街号號的是不了在人有我他这中大来到说们为子和你地出道也时年得就那要下以生会自着去之过学",
  ),
  korean: new Set(
    "김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구나민진지원현수영경준호연은희선" +
      "미자인상동철재용태혜란숙옥순시도로길부산울대광다는을를에의가",
  ),
};

const ASIAN = {
  japanese: /^[\u3040-\u30ff\u4e00-\u9fff\u3000-\u303f\uff01-\uff9f\u3005 -~]+$/u,
  chinese: /^[\u4e00-\u9fff\u3000-\u303f\uff01-\uff5e·“”‘’—… -~]+$/u,
  korean: /^[\uac00-\ud7a3\u3000-\u303f\uff01-\uff5e -~]+$/u,
} as const;

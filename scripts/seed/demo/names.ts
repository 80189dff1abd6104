/** Given names, family names and cities by language. A name with letters outside ASCII that Unicode does not decompose has its spelling for addresses after a slash. */

export type Region = {
  language: string;
  /** Share of the contacts in percent. */
  share: number;
  given: readonly string[];
  family: readonly string[];
  cities: readonly string[];
  /** True if the family name comes first. */
  isFamilyFirst?: true;
};

const words = (text: string): string[] => text.split(" ").map((word) => word.replaceAll("_", " "));

export const REGIONS: readonly Region[] = [
  {
    language: "en",
    share: 38,
    given: words(
      "Amelia Oliver Isla George Ava Noah Grace Harry Freya Leo Niamh Callum Priya Owen Maeve Kofi",
    ),
    family: words(
      "Smith Jones Taylor Hughes O'Brien Walker Wright Khan Murphy Bennett Ross Fraser Okafor Patel Campbell Reid",
    ),
    cities: words("London Bristol Edinburgh Dublin Leeds Cardiff Boston Toronto Galway"),
  },
  {
    language: "de",
    share: 18,
    given: words(
      "Anna Lukas Marie Jonas Lena Felix Sophie Jürgen Käthe Moritz Greta Emil Zoë Björn Heike Uwe",
    ),
    family: words(
      "Müller Schmidt Schneider Fischer Weber Wagner Becker Hoffmann Schäfer Köhler Krüger Voß/Voss Groß/Gross Vogt",
    ),
    cities: words("Berlin Hamburg München Köln Wien Zürich Leipzig Bremen"),
  },
  {
    language: "fr",
    share: 12,
    given: words(
      "Camille Léa Hugo Chloé Louis Inès Gaël Zoé Arthur Maëlle Théo Éloïse Rémi François",
    ),
    family: words(
      "Martin Bernard Dubois Lefèvre Moreau Girard Roux Lambert Fontaine Chevalier Besançon Noël",
    ),
    cities: words("Paris Lyon Nantes Bruxelles Genève Montréal Marseille"),
  },
  {
    language: "es",
    share: 10,
    given: words(
      "Lucía Mateo Sofía Hugo Martina Pablo Begoña Álvaro Iñaki Carmen Raúl Noa Joaquín",
    ),
    family: words(
      "García Fernández López Martínez Sánchez Núñez Ibáñez Ortega Castaño Domínguez Muñoz Vega",
    ),
    cities: words("Madrid Barcelona Sevilla Valencia Ciudad_de_México Bogotá Lima"),
  },
  {
    language: "pt",
    share: 6,
    given: words("Maria João Beatriz Tiago Inês Gonçalo Conceição Rafael Letícia Davi"),
    family: words("Silva Santos Ferreira Gonçalves Araújo Magalhães Simões Costa Brandão"),
    cities: words("Lisboa Porto São_Paulo Recife Coimbra"),
  },
  {
    language: "pl",
    share: 5,
    given: words(
      "Zofia Jakub Łucja/Lucja Wojciech Małgorzata/Malgorzata Szymon Hanna Żaneta Paweł/Pawel",
    ),
    family: words("Nowak Kowalska Wiśniewski Wójcik Lewandowska Zając Dąbrowski Górska"),
    cities: words("Warszawa Kraków Gdańsk Poznań Wrocław"),
  },
  {
    language: "el",
    share: 3,
    given: words(
      "Ελένη/eleni Γιώργος/giorgos Μαρία/maria Νίκος/nikos Κατερίνα/katerina Δημήτρης/dimitris",
    ),
    family: words(
      "Παπαδόπουλος/papadopoulos Νικολάου/nikolaou Οικονόμου/oikonomou Γεωργίου/georgiou",
    ),
    cities: words("Αθήνα Θεσσαλονίκη Πάτρα"),
  },
  {
    language: "ja",
    share: 3,
    given: words("陽菜/hina 蓮/ren 結衣/yui 翔太/shota 美咲/misaki 大輔/daisuke"),
    family: words("佐藤/sato 鈴木/suzuki 高橋/takahashi 田中/tanaka 渡辺/watanabe 伊藤/ito"),
    cities: words("東京 大阪 京都 札幌"),
    isFamilyFirst: true,
  },
  {
    language: "ar",
    share: 3,
    given: words("ليلى/layla عمر/omar مريم/maryam يوسف/yusuf نور/nour خالد/khalid"),
    family: words("الحسن/alhassan حداد/haddad منصور/mansour العلي/alali نجار/najjar"),
    cities: words("بيروت القاهرة عمّان الدار_البيضاء"),
  },
  {
    language: "tr",
    share: 2,
    given: words("Zeynep Yusuf Elif Ömer Ayşe Çağla İbrahim/ibrahim Şirin Işıl/isil"),
    family: words("Yılmaz/yilmaz Kaya Demir Şahin Çelik Yıldız/yildiz Öztürk Aydın/aydin"),
    cities: words("İstanbul Ankara İzmir Bursa"),
  },
];

/** The spelling that is shown, and the one in an address: ASCII letters in lower case. */
export function spellings(name: string): { shown: string; ascii: string } {
  const [shown = "", ascii = shown] = name.split("/");
  const plain = ascii
    .normalize("NFD")
    .toLowerCase()
    .replaceAll(/[^a-z]/g, "");
  return { shown, ascii: plain };
}

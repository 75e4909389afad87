/** The words that generated tables, texts and posts are made of. */

export const FIRST_NAMES = (
  "Ada Amara Björn Chiara Dmitri Elif Fatou Gustav Hana Ines Jamal Keiko Liam Marta Nadia Olu Priya Quentin Rosa Søren Tomás " +
  "Ursula Viktor Wanjiru Ximena Yusuf Zoë Aarav Beatriz Caleb Daphne Emil"
).split(" ");

export const LAST_NAMES = (
  "Adeyemi Andersson Bianchi Castillo Demir Eriksen Fischer García Haddad Ivanov Jansen Kowalski Lindqvist Müller Nakamura " +
  "O'Brien Okafor Pereira Quispe Rossi Schmidt Tanaka Usman Van-Dijk Weber Xu Yılmaz Zielinski Moreau D'Angelo"
).split(" ");

export const CITIES = (
  "Aarhus Accra Bergen Bilbao Brno Cork Dakar Essen Florence Ghent Graz Haifa Izmir Kraków Lagos Leeds Lima Lyon Málaga Nairobi " +
  "Osaka Porto Quito Riga Split Tallinn Turin Utrecht Vigo Zürich"
).split(" ");

export const COMPANIES = [
  "Acme Tools",
  "Baltic Freight",
  "Blue Heron Books",
  "Carver & Sons",
  "Delta Optics",
  "Evergreen Foods",
  "Fjord Energy",
  "Granite Works",
  "Harbour Supply",
  "Iris Textiles",
  "Juniper Labs",
  "Kestrel Air",
  "Lantern Media",
  "Marlow Dairy",
  "Northgate Motors",
  "Orchard Systems",
  "Pike Logistics",
  "Quarry Stone",
  "Rowan Clinics",
  "Summit Sports",
] as const;

export const PRODUCTS = (
  "anvil bracket cable dowel easel flange gasket hinge inverter jack kettle lantern mallet nozzle oilcan pulley quill ratchet " +
  "spanner trowel urn valve washer yoke zipper"
).split(" ");

/** English words of prose, some with apostrophes, hyphens and accents. */
export const WORDS = (
  "the a of and to in is that it was for on with as at by from this have not are but had which you they one all were there " +
  "harbour river engine market letter window garden winter morning question answer machine paper silver number signal story " +
  "people bridge island captain doctor teacher silence weather thunder shadow mirror journey village kitchen station " +
  "runs carries holds answers opens closes counts measures returns waits follows keeps brings leaves turns finds " +
  "quiet bright narrow early late heavy distant careful ordinary curious gentle hollow patient steady sudden don't it's o'clock " +
  "well-known mother-in-law half-open café naïve façade élan über jalapeño rock'n'roll"
).split(" ");

/** Remarks with the characters that break careless readers of tables. */
export const REMARKS = [
  "handle with care",
  'marked "fragile", keep upright',
  "second-hand; tested",
  "see page 3, row 4",
  "6' x 4' crate",
  'called the "old" stock',
  "",
  "left, then right",
  "price on request",
  "  indented on purpose",
  "line one\nline two",
  "first\r\nsecond\r\nthird",
  "tab\there",
  "naïve façade",
  "100% cotton",
  "=SUM(A1:A9)",
] as const;

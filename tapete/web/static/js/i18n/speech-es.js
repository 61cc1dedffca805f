/**
 * What the games say, in Spanish. The server speaks English and notation; each pattern here turns one of its sentences.
 * A pattern's function gets what was captured; `who(n, mine, others)` conjugates for the seat n.
 */

/** Names of parts of a table, of streets, of scores. */
export const PARTS = {
  hand: "mano", card: "carta", dice: "dados", line: "línea", boneyard: "pozo", board: "mesa", open: "cartas abiertas", played: "jugadas", "last move": "última jugada",
  "last round": "ronda anterior", claims: "apuestas", payoffs: "pagos", discs: "fichas", points: "puntos", envido: "envido", cards: "cartas", "dice left": "dados",
  "in the pot": "en el pozo", "bet on this street": "apostado ahora", "points in hand": "puntos en mano", payoff: "pago", turn: "turno", claim: "apuesta", pot: "pozo", button: "botón",
  "to call": "para igualar", preflop: "preflop", flop: "flop", river: "river", "first round": "primera ronda", "second round": "segunda ronda", moves: "jugadas", mano: "mano", tricks: "bazas",
  calls: "cantos", "the hand is worth": "la mano vale", "waits for an answer": "espera respuesta", stake: "en juego", won: "ganó", "to beat": "a superar", bid: "oferta", table: "tabla",
};

/** Words that are moves, and other single words. */
export const WORDS = {
  pass: "paso", bet: "apuesta", check: "pasa", call: "iguala", raise: "sube", fold: "se va", take: "roba", dudo: "dudo",
  bid1: "ofrece 1", bid2: "ofrece 2", bid3: "ofrece 3",
  rock: "piedra", paper: "papel", scissors: "tijera", heads: "cara", tails: "ceca", ballet: "ballet", baseball: "béisbol", silent: "callar", accuse: "acusar", aid: "ayuda", "no-aid": "sin ayuda",
  search: "buscar", rest: "descansar", exit: "salir", stay: "quedarse",
  envido: "envido", "real-envido": "real envido", "falta-envido": "falta envido", truco: "truco", retruco: "retruco", "vale-cuatro": "vale cuatro", quiero: "quiero", "no-quiero": "no quiero", mazo: "al mazo", parda: "parda",
  landlord: "terrateniente", peasant: "campesino", "the landlord": "el terrateniente", "the peasants": "los campesinos", black: "negras", white: "blancas", "in secret": "en secreto",
  "high card": "carta alta", pair: "par", "two pair": "doble par", "three of a kind": "trío", straight: "escalera", flush: "color", "full house": "full", "four of a kind": "póker", "straight flush": "escalera de color",
};

/** The same on a button: what you do, not what somebody did. */
export const ORDERS = {
  pass: "Paso", bet: "Apostar", check: "Pasar", call: "Igualar", raise: "Subir", fold: "Retirarse", take: "Robar del pozo", dudo: "¡Dudo!", bid1: "Ofrecer 1", bid2: "Ofrecer 2", bid3: "Ofrecer 3", mazo: "Ir al mazo",
};

const points = (n) => `${n} ${n === "1" ? "punto" : "puntos"}`;

/** Whole sentences. */
export const SENTENCES = [
  [/^seat (\d+) laid the last tile$/, (who, n) => who(n, "pusiste la última ficha", "puso la última ficha")],
  [/^the line is blocked$/, () => "el juego quedó cerrado"],
  [/^tiles are dealt$/, () => "se reparten las fichas"],
  [/^seat (\d+) to move$/, (who, n) => who(n, "te toca jugar", "tiene que jugar", { silent: true })],
  [/^seat (\d+) takes a tile$/, (who, n) => who(n, "robás una ficha", "roba una ficha")],
  [/^a tile was taken, seat (\d+) to move$/, (who, n) => `robó una ficha; ${who(n, "te toca jugar", "tiene que jugar", { silent: true })}`],
  [/^the game is over$/, () => "terminó el juego"],
  [/^all passed: the cards are dealt again$/, () => "todos pasaron: se reparte de nuevo"],
  [/^landlord: seat (\d+), for (\d+); the open cards are (\w+)$/, (who, n, bid, cards) => `${who(n, "sos el terrateniente", "es el terrateniente", { silent: true })}, por ${bid}; las cartas abiertas son ${cards}`],
  [/^a bomb: the stake is (\d+) now$/, (who, n) => `bomba: ahora se juega por ${n}`],
  [/^the (peasants|landlord) won$/, (who, side) => (side === "landlord" ? "ganó el terrateniente" : "ganaron los campesinos")],
  [/^the highest bid is (\d+)$/, (who, n) => (n === "0" ? "nadie ofreció todavía" : `la oferta más alta es ${n}`)],
  [/^nothing, lead any move$/, () => "nada: salí con lo que quieras"],
  [/^seat (\d+) had ([\d-]+), seat (\d+) had ([\d-]+): (\d+x\d+) was (wrong|right)$/, (who, a, own, b, other, claim, how) =>
    `${who(a, "tenías", "tenía")} ${own}, ${who(b, "tenías", "tenía")} ${other}: ${claim} ${how === "right" ? "era cierto" : "era falso"}`],
  [/^seat (\d+) lost a die$/, (who, n) => who(n, "perdiste un dado", "perdió un dado")],
  [/^(\d+x\d+) waits for an answer$/, (who, claim) => `${claim} espera respuesta`],
  [/^(flop|turn|river): (.+)$/, (who, street, cards) => `${street}: ${cards}`],
  [/^on the board: (.+)$/, (who, card) => `en la mesa: ${card}`],
  [/^seat (\d+) showed ([^:]+): (.+)$/, (who, n, cards, rank) => `${who(n, "mostraste", "mostró")} ${cards}: ${WORDS[rank] ?? rank}`],
  [/^seat (\d+) showed (.+)$/, (who, n, card) => `${who(n, "mostraste", "mostró")} ${card}`],
  [/^trick (\d) was parda$/, (who, n) => `la ${n}ª baza fue parda`],
  [/^seat (\d+) won trick (\d)$/, (who, n, trick) => `${who(n, "ganaste", "ganó")} la ${trick}ª baza`],
  [/^seat (\d+) won the envido, (\d+) to (\d+): (\d+) points?$/, (who, n, a, b, gain) => `${who(n, "ganaste", "ganó")} el envido, ${a} a ${b}: ${points(gain)}`],
  [/^seat (\d+) won the envido: (\d+) points?$/, (who, n, gain) => `${who(n, "ganaste", "ganó")} el envido: ${points(gain)}`],
  [/^seat (\d+) won the hand: (\d+) points?$/, (who, n, gain) => `${who(n, "ganaste", "ganó")} la mano: ${points(gain)}`],
  [/^the next hand is dealt; mano: seat (\d+)$/, (who, n) => `se reparte la mano siguiente; ${who(n, "sos mano", "es mano")}`],
  [/^payoffs to seat (\d+); rows: seat (\d+), columns: seat (\d+)$/, (who, a, b, c) => `pagos a ${who(a, "vos", "", { object: true })}; filas: ${who(b, "vos", "", { object: true })}, columnas: ${who(c, "vos", "", { object: true })}`],
  [/^payoffs to seat (\d+), then to seat (\d+); rows: seat (\d+), columns: seat (\d+)$/, (who, a, b, c, d) => `pagos a ${who(a, "vos", "", { object: true })}, después a ${who(b, "vos", "", { object: true })}; filas: ${who(c, "vos", "", { object: true })}, columnas: ${who(d, "vos", "", { object: true })}`],
  [/^neither can move: the game is over$/, () => "nadie puede jugar: terminó el juego"],
  [/^(black|white) \(seat (\d+)\) can only pass$/, (who, colour, n) => `${WORDS[colour]} (${who(n, "vos", "", { object: true })}) solo puede pasar`],
  [/^(black|white) \(seat (\d+)\) to move$/, (who, colour, n) => `juegan ${WORDS[colour]} (${who(n, "vos", "", { object: true })})`],
  [/^(black|white) passed, (black|white) \(seat (\d+)\) to move again$/, (who, other, colour, n) => `${WORDS[other]} pasó; vuelven a jugar ${WORDS[colour]} (${who(n, "vos", "", { object: true })})`],
];

/** Titles of games; those with parameters by pattern. */
export const TITLES = [
  [/^Battle of the sexes$/, () => "La batalla de los sexos"],
  [/^Unemployment benefit$/, () => "Subsidio de desempleo"],
  [/^Colonel Blotto, (\d+) soldiers on (\d+) fields$/, (a, b) => `El coronel Blotto, ${a} soldados en ${b} campos`],
  [/^Prisoner's dilemma$/, () => "El dilema del prisionero"],
  [/^Dominó for two, up to (\d+-\d+), (\d+) tiles each$/, (a, b) => `Dominó de a dos, hasta ${a}, ${b} fichas cada uno`],
  [/^Dou Dizhu$/, () => "Dou Dizhu"],
  [/^Dou Dizhu(.*)auction(.*)$/, () => "Dou Dizhu con remate"],
  [/^Dudo, (\d+) against (\d+) dice of (\d+) faces(.*)$/, (a, b, c, rest) => `Dudo, ${a} contra ${b} dados de ${c} caras${rest ? ", una ronda" : ""}`],
  [/^Texas hold'em, fixed limit, (\d+) players$/, (n) => `Texas hold'em con límite, ${n} jugadores`],
  [/^Kuhn poker$/, () => "Póker de Kuhn"],
  [/^Leduc poker$/, () => "Póker Leduc"],
  [/^Natural monopoly$/, () => "Monopolio natural"],
  [/^One-card poker, (\d+) cards$/, (n) => `Póker de una carta, ${n} cartas`],
  [/^Othello(?:, (\d+x\d+))?$/, (size) => (size ? `Othello, ${size}` : "Othello")],
  [/^Matching pennies$/, () => "Pares y nones con monedas"],
  [/^Rock, paper, scissors$/, () => "Piedra, papel o tijera"],
  [/^Token against domino$/, () => "Ficha contra dominó"],
  [/^Truco Argentino, (?:one hand|to (\d+))$/, (n) => (n ? `Truco argentino, a ${n}` : "Truco argentino, una mano")],
];

/** One line about each game, and the names of its parameters. */
export const ABOUT = {
  battle: "Los dos quieren ir juntos: ella al ballet, él al béisbol.", benefit: "El Estado ayuda o no; el desempleado busca trabajo o descansa.", blotto: "Los dos reparten sus soldados: más soldados ganan un campo.",
  dilemma: "Años de cárcel, como pérdidas.", domino: "De a dos y con pozo: gana quien se queda sin fichas.", doudizhu: "El terrateniente contra dos campesinos: gana quien se queda sin cartas.",
  dudo: "Dados bajo el cubilete: subí la apuesta, o dudá.", holdem: "Dos cartas propias, cinco en la mesa, apuestas con límite.", kuhn: "Póker con una sota, una reina y un rey: el más chico que existe.",
  leduc: "Seis cartas, una en la mano y una en la mesa.", monopoly: "Dos empresas en un mercado que alimenta a una.", ocp: "Póker con una sola carta cada uno.", othello: "Encerrá las fichas del otro y dalas vuelta.",
  pennies: "Gana el primero si las dos monedas muestran lo mismo.", rps: "Elegir a la vez, en secreto.", token_domino: "Un dominó y una ficha en un tablero de 2 x 3: no deben encontrarse.", truco: "Envido, truco y quiero: cuarenta cartas españolas.",
};
export const PARAMETERS = {
  m: "números hasta", n: "fichas cada uno", faces: "caras", dice1: "dados, lugar 1", dice2: "dados, lugar 2", one_round: "una sola ronda", win: "pago si gana", lose: "pago si pierde", players: "jugadores", cap: "apuestas por ronda",
  rake: "comisión", rake_cap: "comisión máxima", stacks: "fichas (0: sin límite)", size: "tamaño", position: "posición", points: "puntos", mazo: "irse al mazo", hand: "una sola mano", score0: "puntos, lugar 1", score1: "puntos, lugar 2",
  bidding: "con remate", cards: "cartas", soldiers: "soldados", fields: "campos",
};

export const SUITS = { o: "oros", c: "copas", e: "espadas", b: "bastos", h: "corazones", d: "diamantes", s: "picas", k: "tréboles" };
export const RANKS = { 1: "as", 10: "sota", 11: "caballo", 12: "rey", A: "as", J: "jota", Q: "reina", K: "rey", T: "10", B: "comodín negro", R: "comodín rojo" };
export const FACE = { down: "boca abajo", of: "de" };

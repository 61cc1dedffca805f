/** What the games say, in English: nearly as the server says it, with people's names in place of seats. */

export const ORDERS = {
  take: "Take a tile",
  dudo: "Dudo!",
  bid1: "Bid 1",
  bid2: "Bid 2",
  bid3: "Bid 3",
  mazo: "To the mazo",
};

/** Moves that are not told as they are written. */
export const WORDS = { bid1: "bid 1", bid2: "bid 2", bid3: "bid 3" };

/** One line about each game, where the server's is for people who write code. */
export const ABOUT = {
  battle: "Both want to go together: she to the ballet, he to the game.",
  benefit: "The state helps or doesn't; the unemployed looks for work or rests.",
  blotto: "Both divide their soldiers: more soldiers win a field.",
  dilemma: "Years in prison, as losses.",
  domino: "For two, with a boneyard: whoever runs out of tiles wins.",
  doudizhu: "The landlord against two peasants: first without cards wins.",
  dudo: "Dice under a cup: raise the claim, or doubt it.",
  goofspiel: "Bid for prizes in secret, a card at a time: the highest bid wins.",
  holdem: "Two cards of your own, five on the board, fixed bets.",
  kuhn: "Poker with a jack, a queen and a king: the smallest there is.",
  leduc: "Six cards, one in the hand and one on the board.",
  monopoly: "Two firms in a market that feeds one.",
  ocp: "Poker with one card each.",
  othello: "Enclose the other's discs and turn them over.",
  pennies: "The first wins if both show the same side.",
  rps: "Choose at the same time, in secret.",
  token_domino: "A domino and a token on a board of 2 x 3: they must not meet.",
  truco: "Envido, truco, quiero: forty Spanish cards.",
};
export const PARAMETERS = {
  m: "numbers up to",
  n: "tiles each",
  faces: "faces",
  dice1: "dice, seat 1",
  dice2: "dice, seat 2",
  one_round: "one round only",
  win: "payoff if won",
  lose: "payoff if lost",
  players: "players",
  cap: "bets a street",
  rake: "rake",
  rake_cap: "rake at most",
  stacks: "chips (0: no limit)",
  size: "size",
  position: "position",
  points: "points",
  mazo: "going to the mazo",
  hand: "one hand only",
  score0: "points, seat 1",
  score1: "points, seat 2",
  equity: "paid in chances to win the match",
  anyscore: "from any score",
  buenas: "who loses the envido says “son buenas”",
  flor: "with flor",
  bidding: "with an auction",
  cards: "cards",
  soldiers: "soldiers",
  fields: "fields",
  sealed: "bids are never shown",
  prizes: "prizes: random, ascending, descending",
  pays: "pays: win, difference, points",
};
export const SUITS = {
  o: "coins",
  c: "cups",
  e: "swords",
  b: "clubs",
  h: "hearts",
  d: "diamonds",
  s: "spades",
  k: "clubs",
};
export const RANKS = {
  1: "ace",
  10: "knave",
  11: "knight",
  12: "king",
  A: "ace",
  J: "jack",
  Q: "queen",
  K: "king",
  T: "10",
  B: "black joker",
  R: "red joker",
};
export const FACE = { down: "face down", of: "of" };

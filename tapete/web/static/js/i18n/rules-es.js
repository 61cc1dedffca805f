/** How the games are played, in a few lines of Spanish; the whole rules are in each game's README. */
const payoffs = [
  "Los dos eligen a la vez, en secreto: uno una fila, el otro una columna. La celda dice lo que gana cada uno (un solo número: lo que gana el primero y pierde el segundo).",
];

export default {
  truco: [
    "Tres cartas cada uno, tres bazas; gana la mano quien gana dos. De mayor a menor: 1 de espadas, 1 de bastos, 7 de espadas, 7 de oros, los 3, los 2, los otros 1, 12, 11, 10, los otros 7, 6, 5, 4.",
    "En la primera baza se puede cantar envido (2), real envido (3) o falta envido: gana quien suma más con dos cartas del mismo palo (20 más sus valores; las figuras valen 0). En empate gana la mano.",
    "Truco vale 2, retruco 3, vale cuatro 4: se quiere, no se quiere (gana lo anterior) o se sube. Gana quien llega primero a 15 o 30. Si se juega con flor, quien tiene tres cartas del mismo palo la canta antes que nada y cobra 3, en lugar del envido; si los dos tienen, vale 4, contraflor 6, contraflor al resto la falta.",
  ],
  domino: [
    "Cada uno pone una ficha que coincida con una punta de la línea. Quien no puede, roba una del pozo y la juega si sirve; si no, pasa. Gana quien se queda sin fichas, y cobra los puntos que le quedan al otro; si el juego se cierra, gana quien tiene menos puntos, y cobra los del otro.",
  ],
  dudo: [
    "Cada uno mira sus dados bajo el cubilete. Por turno se apuesta cuántos dados de un número hay entre todos, siempre más que antes, o se duda. Si se duda, se muestran los dados: si la apuesta era cierta pierde un dado quien dudó; si no, quien apostó. Quien pierde un dado empieza la ronda siguiente. No hay comodines. Pierde quien se queda sin dados.",
  ],
  holdem: [
    "Dos cartas propias y cinco comunes: tres en el flop, una en el turn y una en el river. En cada ronda se pasa, se apuesta, se iguala, se sube o se va. Las apuestas son fijas: 2 en las dos primeras rondas y 4 en las últimas, hasta cuatro por ronda. Gana la mejor mano de cinco cartas entre las siete.",
  ],
  leduc: [
    "Seis cartas: dos jotas, dos reinas, dos reyes. Una carta cada uno y una ronda de apuestas de 2; después una carta en la mesa y otra ronda de apuestas de 4. Gana quien hace par con la mesa; si no, la carta más alta.",
  ],
  kuhn: [
    "Tres cartas: J, Q, K. Cada uno pone una ficha y recibe una carta. Se pasa o se apuesta una ficha más; contra una apuesta se paga o se va (pasar). Gana la carta más alta.",
  ],
  ocp: [
    "Como el póker de Kuhn, con más cartas: cada uno recibe una, se pasa o se apuesta una ficha, y gana la más alta.",
  ],
  doudizhu: [
    "El terrateniente (20 cartas) contra dos campesinos (17 cada uno). De menor a mayor: 3 a 10, J, Q, K, A, 2, comodín negro, comodín rojo. Los palos no cuentan.",
    "Se sale con una carta, un par, un trío (con una carta o un par), una escalera de cinco o más, tres o más pares seguidos, tríos seguidos (aviones) o cuatro iguales con dos. Los demás superan con lo mismo y más alto, o pasan.",
    "Una bomba (cuatro iguales) le gana a todo menos a una bomba más alta y al cohete (los dos comodines); cada una duplica lo que se juega. Gana el bando de quien se queda sin cartas.",
  ],
  goofspiel: [
    "Cada uno tiene las cartas de un palo, del as (1) al rey (13); los diamantes son los premios. Se da vuelta un premio, todos eligen una carta boca abajo y se muestran a la vez: la más alta se lleva el premio, que vale lo que dice; si las más altas son iguales, nadie. Las cartas ofrecidas se van. Gana quien suma más puntos. Si las ofertas no se muestran, sólo se dice quién ganó.",
  ],
  othello: [
    "Se pone una ficha que encierre en línea fichas del otro, y las encerradas se dan vuelta. Quien no puede, pasa. Al final gana quien tiene más fichas.",
  ],
  rps: ["La piedra le gana a la tijera, la tijera al papel y el papel a la piedra. Los dos eligen a la vez."],
  pennies: payoffs,
  battle: payoffs,
  dilemma: payoffs,
  benefit: payoffs,
  monopoly: payoffs,
  token_domino: [
    "El primero pone un dominó en un tablero de 2 x 3; el segundo, sin ver, una ficha. Si la ficha cae sobre el dominó gana el segundo; si no, el primero.",
  ],
  blotto: [
    "Los dos reparten sus soldados entre los campos, en secreto. Cada campo lo gana quien tiene más soldados ahí.",
  ],
};

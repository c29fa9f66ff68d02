/* How many cores a server's connections take: four inputs, and two results on each host.

   The rows of the tables have what a connection costs, in microseconds of a core: new with ECDSA, new
   with RSA, and returning. */

const form = /** @type {HTMLFormElement} */ (document.getElementById("cores"));
const rows = [...document.querySelectorAll("[data-id]")].map(
  (row) => /** @type {HTMLElement} */ (row),
);

/** The cores for `rate` connections a second, `share` of which return. @param {string} costs @param {string} key @param {number} share @param {number} rate */
function cores(costs, key, share, rate) {
  const [ecdsa = 0, rsa = 0, resumed = 0] = costs.split(" ").map(Number);
  return (rate * ((1 - share) * (key === "rsa" ? rsa : ecdsa) + share * resumed)) / 1e6;
}

/** Two digits, as more do not reproduce. @param {number} number */
function text(number) {
  return new Intl.NumberFormat("en", {
    maximumSignificantDigits: 2,
    minimumSignificantDigits: number < 10 ? 2 : 1,
  }).format(number);
}

function show() {
  const given = new FormData(form);
  const share = Math.min(Math.max(Number(given.get("share")), 0), 100) / 100;
  const rate = Math.max(Number(given.get("rate")), 0);
  const lines = rows
    .filter((row) => row.dataset.id === given.get("library"))
    .map((row) => {
      const [alone, socket] = [row.dataset.alone, row.dataset.socket].map((costs) =>
        text(cores(costs ?? "", String(given.get("key")), share, rate)),
      );
      return `${row.dataset.host}: ${alone} cores for TLS alone, ${socket} through a socket.`;
    });
  /** @type {HTMLOutputElement} */ (form.elements.namedItem("result")).value = lines.join("\n");
}

form.addEventListener("input", show);
form.addEventListener("submit", (event) => event.preventDefault());
form.hidden = false;
show();

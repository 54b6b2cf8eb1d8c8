// A page that is being made: asked for again until it is there, and then shown.

const shown = document.getElementById("progress");

async function look() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
  if (answer !== null && answer.status !== 202) {
    location.reload();
    return;
  }
  if (answer !== null) {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const now = page.getElementById("progress");
    if (now !== null && now.innerHTML !== shown.innerHTML) shown.innerHTML = now.innerHTML;
  }
  setTimeout(look, 1000 * Number(shown.dataset.lookS));
}

setTimeout(look, 300);

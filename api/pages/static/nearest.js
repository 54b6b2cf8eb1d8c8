// Points of a scatter lie on each other: whoever points somewhere is told of the nearest one, and a click opens it.

const REACH = 18;

for (const plot of document.querySelectorAll("[data-plot]")) {
  const points = [...plot.querySelectorAll("circle")];
  const caption = plot.nextElementSibling;
  let near = null;

  plot.addEventListener("pointermove", (event) => {
    const box = plot.getBoundingClientRect();
    const view = plot.viewBox.baseVal;
    const x = view.x + ((event.clientX - box.left) * view.width) / box.width;
    const y = view.y + ((event.clientY - box.top) * view.height) / box.height;
    let least = REACH * REACH;
    let found = null;
    for (const point of points) {
      const far = (point.cx.baseVal.value - x) ** 2 + (point.cy.baseVal.value - y) ** 2;
      if (far < least) [least, found] = [far, point];
    }
    if (found === near) return;
    near?.parentElement.classList.remove("near");
    near = found;
    near?.parentElement.classList.add("near");
    caption.textContent = near ? near.querySelector("title").textContent : "";
    plot.style.cursor = near ? "pointer" : "";
  });
  plot.addEventListener("click", (event) => {
    if (near && !event.target.closest("a")) location.href = near.parentElement.href.baseVal;
  });
}

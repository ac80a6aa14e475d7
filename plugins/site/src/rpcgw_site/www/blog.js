// Shows the articles that hold every word of ?q=, as the form and the tool's link ask for.

const query = new URLSearchParams(location.search).get("q") ?? "";
const words = query.toLowerCase().split(/\s+/).filter(Boolean);
document.querySelector("[name=q]").value = query;
for (const item of document.querySelectorAll(".list li")) {
  item.hidden = !words.every((word) => item.textContent.toLowerCase().includes(word));
}

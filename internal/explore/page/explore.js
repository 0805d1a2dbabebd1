// Exchanges the token in the address for a cookie, follows new versions of the data, and focuses the search with "/".

const page = document.body.dataset;
const live = document.getElementById("live");

// signIn sends the token of the fragment, and loads the page again.
async function signIn() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) {
    // A link from another site does not send the cookie, but a navigation from this page does.
    if (!sessionStorage.getItem("retried")) {
      sessionStorage.setItem("retried", "yes");
      location.replace(location.pathname + location.search + location.hash);
    }
    return;
  }
  const answer = await fetch("/token", { method: "POST", body: token });
  if (answer.ok) {
    location.replace(location.pathname + location.search);
  } else {
    live.textContent = "The token is wrong. Has bindc explore been started again?";
  }
}

// dropToken removes a token from the address of a client that is signed in.
function dropToken() {
  if (new URLSearchParams(location.hash.slice(1)).has("token")) {
    history.replaceState(null, "", location.pathname + location.search);
  }
}

// isBusy reports whether the user has changed a field of a form.
function isBusy() {
  const fields = [...document.querySelectorAll("input:not([type=hidden])")];
  return fields.some((field) => field.value !== field.defaultValue);
}

// addressIn returns the address of this page in another version.
function addressIn(version) {
  return location.pathname.replace(/^\/s\/[^/]+/, "/s/" + version) + location.search + location.hash;
}

// reload loads an address and keeps the position on the page.
function reload(address) {
  sessionStorage.setItem("scroll", String(window.scrollY));
  if (address === location.pathname + location.search + location.hash) {
    location.reload();
  } else {
    location.replace(address);
  }
}

// say shows a message with a link.
function say(text, link, address) {
  live.textContent = text + " ";
  const a = document.createElement("a");
  a.href = address;
  a.textContent = link;
  live.append(a);
}

// follow reacts to an event: a new version, numbers that are known now, or a build that failed or works again.
function follow(event) {
  const showsFailure = document.getElementById("failure") !== null;
  if (event.live && event.latest !== page.version) {
    if (isBusy()) {
      say("The data changed.", "Show the new version", addressIn(event.latest));
    } else {
      sessionStorage.setItem("updated", new Date(event.since).toLocaleTimeString("en-GB"));
      reload(addressIn(event.latest));
    }
  } else if (event.latest === page.version && event.counted && "partial" in page) {
    if (isBusy()) {
      say("The nodes have been counted.", "Show the numbers", addressIn(page.version));
    } else {
      reload(addressIn(page.version));
    }
  } else if (event.failed && !showsFailure) {
    say("The site does not build; this page shows the last version that did.", "Show the errors", "/s/latest/problems");
  } else if (!event.failed) {
    live.textContent = "";
    if (showsFailure) reload(addressIn(page.version));
  }
}

// listen receives events while the page is visible. A browser only has some connections for all tabs and for the pages
// that it keeps for the button "back".
let events = null;
function listen() {
  if (document.visibilityState !== "visible") {
    events?.close();
    events = null;
  } else if (events === null) {
    events = new EventSource("/events");
    events.addEventListener("message", (message) => follow(JSON.parse(message.data)));
  }
}

function focusSearch(event) {
  const typing = event.target.closest("input, textarea, select");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    document.getElementById("search").focus();
  }
}

if ("signin" in page) {
  signIn();
} else {
  sessionStorage.removeItem("retried");
  dropToken();
  const scroll = sessionStorage.getItem("scroll");
  if (scroll !== null) {
    sessionStorage.removeItem("scroll");
    window.scrollTo(0, Number(scroll));
  }
  const updated = sessionStorage.getItem("updated");
  if (updated !== null && !("partial" in page)) {
    sessionStorage.removeItem("updated");
    document.getElementById("updated").textContent = "This page followed a change at " + updated + ".";
  }
  document.addEventListener("keydown", focusSearch);
  for (const event of ["visibilitychange", "pageshow"]) addEventListener(event, listen, true);
  listen();
}

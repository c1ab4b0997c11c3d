// Copies text, and shows the result on the button that was pressed.

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);  // a browser without a clipboard for pages from files
  }
}

function copyBySelection(text) {
  const area = document.createElement('textarea');
  area.value = text;
  area.style.position = 'fixed';
  document.body.append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  return copied;
}

export function copyButton(text) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet copy';
  button.textContent = 'Copy stack';
  button.addEventListener('click', async (event) => {
    event.stopPropagation();
    button.textContent = await copyText(text()) ? 'Copied' : 'Not copied';
    setTimeout(() => { button.textContent = 'Copy stack'; }, 1500);
  });
  return button;
}

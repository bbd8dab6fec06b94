-- References in the prompt: files, the buffer, diagnostics, and images.

local chats = require('chats')
local harness = require('harness')
local runner = require('runner')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait

---Writes an image of one pixel.
---@param path string
local function image(path)
  local file = assert(io.open(path, 'wb'))
  file:write(
    vim.base64.decode(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC'
    )
  )
  file:close()
end

---Returns the text and the number of images of the newest message in a request.
local function sent(service)
  local messages = service.requests[#service.requests].messages
  local content = messages[#messages].content
  if type(content) == 'string' then
    return content, 0
  end
  local parts, images = {}, 0
  for _, part in ipairs(content) do
    parts[#parts + 1] = part.text
    images = images + (part.type == 'image_url' and 1 or 0)
  end
  return table.concat(parts, '\n'), images
end

local function ask(chat, service, text)
  local count = #service.requests
  chats.send(chat, text)
  wait('the request', function()
    return #service.requests > count
  end)
  chats.settled(chat)
  return sent(service)
end

---A model that accepts images.
local function model(replies)
  local service = harness.model(replies)
  local provider = service:provider()
  provider.models[1].input = { 'text', 'image' }
  vim.fn.writefile(
    { vim.json.encode({ providers = { ['local'] = provider } }) },
    harness.folder('.xcsh/agent') .. '/models.json'
  )
  return service
end

case('@path, @path:lines and @buffer attach files, and other words stay text', function()
  local service = model({ { text = 'A.' }, { text = 'B.' } })
  vim.cmd.edit(chats.file('a.txt', { 'alpha', 'beta', 'gamma', 'delta' }))
  chats.file('b c.txt', { 'spaced' })
  local chat = chats.open()
  local text = ask(chat, service, 'see @a.txt:2-3, @"b c.txt" and @nobody or me@a.txt')
  like('beta\ngamma', text)
  eq(nil, text:find('alpha', 1, true))
  eq(nil, text:find('delta', 1, true))
  like('spaced', text)
  like('see @a%.txt:2%-3, @"b c%.txt" and @nobody or me@a%.txt$', text)
  text = ask(chat, service, 'what is in @buffer?')
  like('alpha\nbeta\ngamma\ndelta', text)
  eq({ '' }, { chats.prompt_text(chat) })
end)

case('@selection, @terminal and @symbol send things in the editor', function()
  local service = model({ { text = 'A.' }, { text = 'B.' }, { text = 'C.' }, { text = 'D.' } })
  local path = chats.file('a.lua', { 'local M = {}', '', 'function M.go()', '  return 1', 'end' })
  vim.cmd.edit(path)
  local bufnr = vim.api.nvim_get_current_buf()
  vim.api.nvim_buf_set_lines(bufnr, 3, 4, false, { '  return "ä🙂" -- unsaved' })
  vim.api.nvim_win_set_cursor(0, { 4, 0 })
  chats.press('wve<Esc>')
  vim.cmd('vsplit | terminal echo output')
  local shell = vim.api.nvim_get_current_buf()
  wait('the output', function()
    return table.concat(vim.api.nvim_buf_get_lines(shell, 0, -1, false), '\n'):find('output')
  end)
  vim.cmd.wincmd('p')
  local symbols = {
    ['workspace/symbol'] = {
      { name = 'gone', location = { uri = 'file:///elsewhere', range = {} } },
      {
        name = 'M.go',
        location = {
          uri = vim.uri_from_fname(path),
          range = { start = { line = 2, character = 9 }, ['end'] = { line = 2, character = 13 } },
        },
      },
    },
    ['textDocument/documentSymbol'] = {
      {
        name = 'M.go',
        range = { start = { line = 2, character = 0 }, ['end'] = { line = 4, character = 3 } },
      },
    },
  }
  local other = require('scripted').server('symbols', symbols, {
    workspaceSymbolProvider = true,
    documentSymbolProvider = true,
  })
  local chat = chats.open()
  local text = ask(chat, service, 'why @selection?')
  like('lines="4%-4">\n  return "ä🙂" %-%- unsaved\n</file>\n\nwhy @selection%?$', text)
  text = ask(chat, service, 'see @terminal')
  like('output', text)
  text = ask(chat, service, 'explain @symbol:M.go and @symbol:gone')
  like('function M%.go%(%)\n  return "ä🙂" %-%- unsaved\nend', text)
  eq(nil, text:find('local M = {}', 1, true))
  chats.wait_for(chat, 'There is no symbol "gone"')
  -- Things of other folders are not sent.
  vim.cmd('topleft split ' .. harness.folder('elsewhere') .. '/b.txt')
  vim.cmd.bwipeout({ tostring(bufnr), bang = true })
  text = ask(chat, service, 'and @buffer?')
  like('^and @buffer%?$', text)
  vim.lsp.stop_client(other, true)
end)

case('a slash command is answered in the chat, and not recorded', function()
  local service = model({ { text = 'A.' } })
  local chat = chats.open()
  chats.send(chat, '/rename The new title')
  chats.wait_for(chat, '/rename · not part of the session\n[^\n]*The new title')
  eq({ 0, 0 }, { #chat.state.items, #service.requests })
  chats.send(chat, '/stats')
  chats.wait_for(chat, '/stats · not part of the session')
  chats.send(chat, 'hello')
  chats.wait_for(chat, 'A%.')
  chats.settled(chat)
  eq(nil, chats.text_of(chat):find('/stats', 1, true))
  vim.cmd('XcshPrompt /stats')
  wait('the answer', function()
    return vim.fn.bufnr('xcsh://stats') ~= -1
  end)
end)

case('@diagnostics adds what the editor reports, the worst first', function()
  local service = model({ { text = 'A.' } })
  vim.cmd.edit(chats.file('a.txt', { 'one', 'two' }))
  vim.diagnostic.set(vim.api.nvim_create_namespace('test'), 0, {
    { lnum = 1, col = 2, message = 'a hint', severity = vim.diagnostic.severity.HINT },
    { lnum = 0, col = 0, message = 'bad\27\nthing', severity = vim.diagnostic.severity.ERROR },
  })
  local text = ask(chats.open(), service, 'fix @diagnostics')
  like('%- a%.txt:1:1: error: bad␛ thing\n%- a%.txt:2:3: hint: a hint', text)
end)

---@return string[]
local function offered(chat, typed)
  vim.api.nvim_set_current_win(chats.window_of(chat.input))
  require('xcsh.chat.input').set(chat, typed)
  vim.api.nvim_win_set_cursor(0, { 1, #typed })
  local slash = require('xcsh.chat.slash')
  -- The cursor of Insert mode is after the text.
  local cursor = vim.api.nvim_win_get_cursor
  vim.api.nvim_win_get_cursor = function()
    return { 1, #typed }
  end
  local start = slash.complete(1, '')
  local items = start >= 0 and slash.complete(0, typed:sub(start + 1)) or {}
  vim.api.nvim_win_get_cursor = cursor
  return vim.tbl_map(function(item)
    return item.abbr
  end, items)
end

case('references are completed after "@"', function()
  chats.demo()
  vim.cmd.edit(chats.file('alpha.txt', { 'one' }))
  chats.file('beta.txt', { 'one' })
  chats.file('.hidden', { 'one' })
  chats.file('two words.txt', { 'one' })
  vim.fn.writefile({}, harness.folder('work/below') .. '/deep.txt')
  local chat = chats.open()
  eq({ '@buffer', '@problems', '@alpha.txt', '@below/', '@beta.txt' }, offered(chat, 'look at @'))
  eq({ '@below/deep.txt' }, offered(chat, 'look at @below/d'))
  eq({ '@.hidden' }, offered(chat, '@.h'))
  eq({ '@alpha.txt' }, offered(chat, '@pha'))
  eq({}, offered(chat, 'me@alp'))
end)

case('the path of a dropped image becomes a reference, and the image is sent', function()
  local service = model({ { text = 'A cat.' } })
  local path = harness.folder('my pictures') .. '/cat.png'
  image(path)
  local chat = chats.open()
  vim.api.nvim_set_current_win(chats.window_of(chat.input))
  vim.paste({ path:gsub(' ', '\\ ') .. '' }, -1)
  eq(('@"%s" '):format(path), chats.prompt_text(chat))
  vim.paste({ 'no path' }, -1)
  like('no path', chats.prompt_text(chat))
  require('xcsh.chat.input').set(chat, '')
  local _, images = ask(chat, service, ('what is @"%s"?'):format(path))
  eq(1, images)
end)

case('gp attaches the image in the clipboard', function()
  local service = model({ { text = 'A cat.' } })
  local bin = harness.folder('bin')
  vim.fn.writefile({ '#!/bin/sh', 'exec cat "$0.png"' }, bin .. '/wl-paste')
  image(bin .. '/wl-paste.png')
  vim.fn.setfperm(bin .. '/wl-paste', 'rwxr-xr-x')
  local before = vim.env.PATH
  vim.env.PATH = bin .. ':' .. before
  local chat = chats.open()
  vim.api.nvim_set_current_win(chats.window_of(chat.input))
  chats.press('gp')
  wait('the image', function()
    return #chat.attached == 1
  end)
  vim.fn.writefile({ 'text' }, bin .. '/wl-paste.png')
  chats.press('gp')
  harness.message('no image in the clipboard')
  vim.env.PATH = before
  local _, images = ask(chat, service, 'what is it?')
  eq(1, images)
  eq({}, chat.attached)
end)

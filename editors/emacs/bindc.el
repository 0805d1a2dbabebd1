;;; bindc.el --- bindc lsp for eglot -*- lexical-binding: t -*-
;;; Commentary:
;; A mode for data and bindings in YAML that works without yaml-mode, and the server for eglot. With yaml-mode or
;; puppet-mode, add those modes to the list instead:
;;   (add-to-list 'eglot-server-programs '((yaml-mode puppet-mode) . ("bindc" "lsp")))
;;; Code:
(require 'eglot)
(define-derived-mode bindc-mode prog-mode "bindc"
  "Mode for the files of a site of bindc."
  (setq-local comment-start "# "))
(add-to-list 'eglot-server-programs '(bindc-mode . ("bindc" "lsp")))
(provide 'bindc)
;;; bindc.el ends here

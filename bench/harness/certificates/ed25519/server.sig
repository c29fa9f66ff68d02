ßףJ¾§U¥	]Ü8חיqd•בי‡F¸Nװ¸­y•dQWd7¡¨ּ;˜¶6wqLD3eÜ¢דqw!©r«b
